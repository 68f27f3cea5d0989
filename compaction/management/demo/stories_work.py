"""Stories of agents that do other work."""

from __future__ import annotations

from datetime import timedelta

from compaction.management.demo.outputs import log_lines, page_text, table
from compaction.management.demo.script import Story, Trouble
from compaction.management.demo.turns import FALLBACK, PRIMARY, Move, ToldTurn
from compaction.models import RecoveryEvent


def invoices() -> Story:
    """Stuck: the rules alone are larger than the threshold, and a turn ended on it."""
    story = Story(
        key="invoices",
        title="Migrate invoices to v2",
        source="openai",
        agent="billing-bot",
        model="gpt-4o",
        window=64_000,
        ago=timedelta(minutes=2),
    )
    story.system("Rules of the billing office.\n\n" + page_text("billing", 330))
    story.user("Migrate the invoices of November to the new format.")
    for number in range(1, 7):
        story.does(
            "query",
            table(f"batch {number} | what       | amount | total", 8),
            sql=f"select * from invoices where batch = {number}",
        )
    story.says("Six batches are read. Batch 7 needs the tariff of last year.")
    story.met(
        Trouble(
            reason="context_overflow",
            action="compact",
            status=400,
            endpoint=PRIMARY,
            detail="Please reduce the length: the limit is 32000 tokens.",
        )
    )
    return story.turned(
        ToldTurn(
            text="Take the tariff of last year from the archive and go on.",
            end="stuck",
            moves=(
                Move(
                    kind=RecoveryEvent.Kind.WINDOW_LOWERED,
                    before="64000",
                    after="32000",
                ),
            ),
        )
    )


def travel() -> Story:
    """Chinese, compacted once."""
    story = Story(
        key="travel",
        title="旅行计划与预算",
        source="claude_code",
        agent="Claude Code",
        model="glm-4.7",
        window=32_000,
        ago=timedelta(minutes=4),
    )
    story.system("你是一位细心的旅行助手。回答要简短，数字要准确。")
    story.user("请为五口之家安排十月的云南七日行程，总预算不超过 18,000 元。")
    for city in ("昆明", "大理", "丽江", "香格里拉", "西双版纳"):
        rows = "\n".join(
            f"{city} 酒店 {n} 号，每晚 {260 + n * 14} 元，评分 {4 + n % 9 / 10}，住五人"
            for n in range(130)
        )
        story.does("search", rows, say=f"先查{city}的住宿。", query=f"{city} 家庭房")
    story.user("孩子晕车，每天坐车不要超过三小时。酒店必须有电梯。")
    story.says("明白：每天乘车不超过三小时，酒店必须有电梯。决定改坐动车，因为更稳。")
    for day in range(1, 8):
        rows = "\n".join(
            f"第{day}天 {hour} 点 车次 D{8000 + day * 10 + hour} 余票 {hour * 3} 张"
            for hour in range(6, 24)
        )
        story.does("tickets", rows * 3, date=f"10 月 {day} 日")
    story.compacted()
    story.user("很好。现在列出每天的花费。")
    story.does(
        "calculate",
        "\n".join(
            f"第{d}天：住宿 620 元，交通 410 元，门票 280 元" for d in range(1, 8)
        ),
        days=7,
    )
    story.says("七天合计 9,170 元，还剩 8,830 元。")
    return story.plans(
        "五口之家云南七日行程，预算 18,000 元以内",
        ("completed", "查五个城市的住宿"),
        ("completed", "查动车余票"),
        ("in_progress", "列出每天的花费"),
        ("pending", "预订有电梯的酒店"),
    )


def nightly_report() -> Story:
    """A job that was compacted again and again, with a failover."""
    story = Story(
        key="report",
        title="Nightly report",
        agent="cron",
        model="deepseek-chat",
        window=32_000,
        ago=timedelta(minutes=6),
    )
    story.system("You write the nightly report of the depot. Facts and figures only.")
    story.user("Collect the figures of each depot, then write one page.")
    for night in range(1, 5):
        if night > 1:
            story.compacted()
            story.user(f"Night {night}: the same again. Keep the order of the depots.")
        for depot in ("north", "east", "south", "west", "harbour"):
            story.does(
                "query",
                table(f"{depot} {night} | what       | pieces | weight", 90),
                sql=f"select * from moves where depot = '{depot}' and night = {night}",
            )
            story.does(
                "bash",
                log_lines(f"{depot}{night}", 70, errors=[f"scale {night} offline"]),
                command=f"journalctl -u depot-{depot} --since yesterday",
            )
        story.says(f"Report {night} is written: the scale {night} was offline twice.")
    story.met(
        Trouble(
            reason="auth",
            action="fail_over",
            status=401,
            endpoint="primary",
            detail="Incorrect API key provided.",
        )
    )
    story.turned(
        ToldTurn(
            text="Night 4 is over. Is anything still open?",
            end="completed",
            answer="One thing is open: nobody has answered about the harbour's scale.",
            endpoint=FALLBACK,
            tokens=(9_412, 18),
            moves=(
                Move(
                    kind=RecoveryEvent.Kind.FAILED_OVER, before=PRIMARY, after=FALLBACK
                ),
            ),
        )
    )
    return story.plans(
        "One page with the figures of all five depots.",
        ("completed", "north and east"),
        ("completed", "south and west"),
        ("pending", "ask about the scale at the harbour"),
    )


def drift() -> Story:
    """Operations, with a length stop that was continued."""
    story = Story(
        key="drift",
        title="Explain the drift in staging",
        agent="cli",
        model="gpt-5-mini",
        ago=timedelta(minutes=48),
    )
    story.system("You look after the staging machines. Never apply, only explain.")
    story.user("The plan shows 41 changes nobody made. Which are real?")
    for part in ("network", "storage", "queues", "names"):
        story.does(
            "bash",
            log_lines(f"plan-{part}", 220, errors=["state lock held by pid 4102"]),
            command=f"plan --target {part}",
        )
    story.says("Only the names changed by hand; the rest is a new provider version.")
    return story.met(
        Trouble(
            reason="output_cap",
            action="continue",
            attempt=1,
            attempts=3,
            endpoint="primary",
            detail="The answer was cut off at its limit and continued.",
        )
    )


def slow_query() -> Story:
    """Chinese, small, ended."""
    story = Story(
        key="query",
        title="排查数据库慢查询",
        source="codex",
        agent="Codex",
        model="gpt-5-codex",
        window=128_000,
        ago=timedelta(days=1, hours=2),
        ended=True,
    )
    story.system("你负责排查数据库问题，只读，不修改。")
    story.user("订单列表打开要八秒，请找出原因。")
    story.does(
        "query", table("计划  | 表         | 行数   | 耗时", 60), sql="explain analyze"
    )
    story.does(
        "query", table("索引  | 列         | 大小   | 命中", 30), sql="show index"
    )
    return story.says(
        "原因：按 created_at 排序没有索引。建议加联合索引 (shop_id, created_at)。"
    )


def refund() -> Story:
    """A customer's case."""
    story = Story(
        key="refund",
        title="Refund for order 88-1204",
        source="tau_bench",
        agent="shop assistant",
        model="gpt-4o",
        window=32_000,
        ago=timedelta(days=2),
        ended=True,
    )
    story.system("You help customers of the Orchard shop. Policy first, then kindness.")
    story.user("My crate arrived with 3 broken jars. Order 88-1204.")
    story.does(
        "get_order", table("order | what       | pieces | price", 6), id="88-1204"
    )
    story.says("I can refund the three jars, 14.70 in all. Is that all right?")
    story.user("Yes, please, to the card I paid with.")
    story.does("refund", '{"status": "done", "amount": 14.70}', order="88-1204", jars=3)
    return story.says("Done. 14.70 goes back to your card within three days.")


def research() -> Story:
    """Over the threshold, never compacted."""
    story = Story(
        key="research",
        title="Compare three storage engines",
        source="openhands",
        agent="OpenHands",
        model="llama-4-maverick",
        window=64_000,
        ago=timedelta(hours=1, minutes=10),
    )
    story.system("You research and cite what you read.")
    story.user("Compare the three engines for write load. Prefer primary sources.")
    for engine in ("cedar", "larch", "rowan"):
        for chapter in range(1, 6):
            story.does(
                "browse",
                page_text(f"{engine} {chapter}", 25),
                url=f"https://docs.example/{engine}/{chapter}",
            )
        story.says(
            f"{engine} keeps its log apart from its tables; version 3.{len(engine)}."
        )
    return story.user("Leave out anything older than two years.")
