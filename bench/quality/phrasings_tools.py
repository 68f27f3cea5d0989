"""What tools print and are given; « » marks what must survive."""

from __future__ import annotations

ERRORS = (
    'Traceback (most recent call last):\n  File "/srv/job.py", line {n}, in <module>\n'
    "    main()\n«KeyError: '{name}_{other}'»",
    "«TypeError: Cannot read properties of undefined (reading '{name}')»\n"
    "    at Object.<anonymous> (/srv/app/index.js:{n}:7)",
    "«error[E0382]: borrow of moved value: `{name}`»\n --> lib.rs:{n}:9",
    "main.c:{n}:14: «error: unknown type name '{name}_t'»",
    "«bash: {name}-cli: command not found»",
    "HTTP/1.1 422 Unprocessable Entity\n«{Name} rejected: field {other} is required»",
    'psql: «ERROR:  relation "{name}_{other}" does not exist»\nLINE 1: select 1',
    '«Error from server (NotFound): deployments.apps "{name}-{other}" not found»',
    "«panic: runtime error: index out of range [{n}] with length {n}»\n\ngoroutine 1:",
    'Exception in thread "main" «java.lang.IllegalStateException: {name} closed»\n'
    "\tat org.{name}.Main.run(Main.java:{n})",
    '{"ok": false, "error": {"code": {big}, "message": "«{name} quota exhausted»"}}',
    "npm «ERR! 404 Not Found - GET {url}»",
    "«fatal: couldn't find remote ref {name}/{other}»",
    "FAILED tests/test_{name}.py::test_{other} - «AssertionError: {n} != {big}»",
    "错误：«无法连接{name}数据库，连接被拒绝»",
    "«Permission denied (publickey) for {name}@{ip}»",
    "E   «ModuleNotFoundError: No module named '{name}'»",
    'time=12:01 level=error msg="«dial tcp {ip}:{port}: i/o timeout»"',
)
PRINTED = (  # identifiers in what tools print
    "Deployed release «{version}» of {name} to all hosts",
    "Server listening on 0.0.0.0:«{port}»",
    "Created order «{uuid}» for {Name}",
    "[main «{short}»] tidy {name}",
    "Pull request opened: «{url}»",
    "Total due: USD «{amount}»",
    "Next maintenance window: «{date}»",
    "issue {ticket} linked to «{sha}»",
    "Successfully installed {name}-«{version}»",
    "container {name} has address «{ip}»",
)
ARGUMENTS = (  # deep values in arguments
    '{"service": {"retry": {"policy": {"ceiling_ms": «{big}», "jitter": true}}}}',
    '{"values": {"ingress": {"annotations": {"owner": "«{name}-{other}»"}}}}',
    '{"query": {"filters": [{"field": "state", "eq": "open"}, '
    '{"field": "tenant", "eq": "«{name}:{big}»"}]}}',
    '{"template": {"vars": {"bucket": "«s3://{name}-{other}/raw»", "debug": false}}}',
    '{"steps": [{"run": {"image": "«{name}/{other}:{version}»", "cpu": 2}}]}',
    '{"schedule": {"cron": "«{n} 4 * * 1»", "zone": {"id": "Europe/{Name}"}}}',
    '{"alert": {"when": {"metric": "«{name}.{other}.p99»", "above": {n}}}}',
)
DEEP_TOOLS = ("apply_config", "http_request", "create_job", "search_index", "helm")
COMMANDS = (
    "make {name}-check",
    "cargo test -p {name} --release",
    "docker compose -f {name}.yml up -d {other}",
    "kubectl rollout restart deploy/{name}-{other}",
    "go vet ./{name}/...",
    "./scripts/{name}.sh --region {other}",
    "npx {name} migrate --to {n}",
    "python -m {name}.{other} --limit {n}",
)
READERS = (("read_file", "path"), ("Read", "file_path"), ("view", "path"))
SHELLS = (("terminal", "command"), ("Bash", "command"), ("run_shell", "cmd"))
