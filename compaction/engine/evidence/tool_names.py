"""What a tool does, by the names that many agents give their tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from compaction.engine.evidence.wording import words


class Act(StrEnum):
    """What a tool does."""

    READ = "read"
    WRITE = "written"
    CREATE = "created"
    EDIT = "edited"
    DELETE = "deleted"
    MOVE = "moved"
    RUN = "ran"
    PATCH = "patch"
    TODO = "todo"
    SEARCH = "searched"
    OTHER = "used"


_ACTS: Mapping[Act, frozenset[str]] = {
    Act.READ: words(
        "read read_file readfile file_read view view_file open open_file cat get_file "
        "get_file_contents read_text_file notebookread read_notebook read_many_files "
        "load_file fetch_file show_file goto"
    ),
    Act.WRITE: words(
        "write write_file writefile file_write save save_file put_file write_to_file "
        "write_text_file notebook_write overwrite_file"
    ),
    Act.CREATE: words("create create_file new_file add_file touch create_directory"),
    Act.EDIT: words(
        "edit edit_file multiedit multi_edit patch_file str_replace replace insert "
        "replace_in_file search_replace update_file modify_file notebookedit append "
        "append_file insert_edit_into_file edit_block file_edit patch"
    ),
    Act.DELETE: words("delete delete_file remove remove_file rm unlink trash_file"),
    Act.MOVE: words("move move_file rename rename_file mv copy_file"),
    Act.RUN: words(
        "bash shell terminal run run_command execute execute_command execute_bash "
        "exec exec_command local_shell container_exec run_terminal_cmd run_shell "
        "run_in_terminal command cmd sh powershell run_terminal_command shell_command "
        "process bash_command run_bash"
    ),
    Act.PATCH: words("apply_patch apply_diff"),
    Act.TODO: words(
        "todo todowrite todo_write todo_update update_plan write_todos todo_list plan "
        "manage_todo_list update_todo_list task_set_goal taskcreate taskupdate"
    ),
    Act.SEARCH: words(
        "grep glob find find_file search search_files search_file search_dir ls "
        "list_dir list_files list_directory ripgrep rg codebase_search websearch "
        "web_search tool_search semantic_search"
    ),
}
_BY_NAME = {name: act for act, names in _ACTS.items() for name in names}

_EDITOR_COMMANDS: Mapping[str, Act] = {
    "view": Act.READ,
    "read": Act.READ,
    "create": Act.CREATE,
    "write": Act.WRITE,
    "str_replace": Act.EDIT,
    "insert": Act.EDIT,
    "undo_edit": Act.EDIT,
    "delete": Act.DELETE,
    "rename": Act.MOVE,
}
"""Editors that do all by one tool and an argument `command`."""

PATH_ARGUMENTS = (
    *("path", "file_path", "filepath", "filename", "file_name", "file", "target_file"),
    *("notebook_path", "absolute_path", "relative_path", "relative_workspace_path"),
    *("target", "source", "src", "old_path", "from", "uri"),
)
DESTINATION_ARGUMENTS = ("destination", "dest", "dst", "new_path", "to", "target_path")
COMMAND_ARGUMENTS = ("command", "cmd", "commands", "script", "code", "input")

_PREFIX = re.compile(
    r"^(?:mcp__[A-Za-z0-9-]+__|functions[.:]|default_api[.:]|tools?[.:])"
)


def bare_name(name: str) -> str:
    """Return a tool's name in small letters, without the prefix of its server."""
    return _PREFIX.sub("", name).lower().replace("-", "_").replace(".", "_")


def act_of(name: str, arguments: Mapping[str, Any]) -> Act:
    """Return what a call of this tool does."""
    bare = bare_name(name)
    command = arguments.get("command")
    has_path = any(key in arguments for key in PATH_ARGUMENTS)
    if isinstance(command, str) and command in _EDITOR_COMMANDS and has_path:
        return _EDITOR_COMMANDS[command]
    known = _BY_NAME.get(bare)
    if known is not None:
        return known
    return _guess(bare, arguments)


def _guess(bare: str, arguments: Mapping[str, Any]) -> Act:
    parts = frozenset(bare.split("_"))
    about_files = bool(parts & {"file", "files", "document", "notebook", "path"})
    if about_files:
        for act in (Act.DELETE, Act.MOVE, Act.CREATE, Act.EDIT, Act.WRITE, Act.READ):
            if parts & _ACTS[act]:
                return act
    if parts & {"bash", "shell", "terminal", "exec"} and "command" in arguments:
        return Act.RUN
    return Act.TODO if parts & {"todo", "todos"} else Act.OTHER


def text_argument(arguments: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Return the first argument of these names that is a text."""
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
            return _joined(value)
    return ""


def _joined(parts: list[str]) -> str:
    """Return an argument list as a command line; `bash -lc X` is X."""
    if len(parts) >= 3 and parts[0].rpartition("/")[2] in ("bash", "sh", "zsh"):
        return parts[-1]
    return " ".join(parts)
