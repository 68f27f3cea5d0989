"""Words that give away what a sentence is: data only, English and Chinese.

Each entry is a small pattern; `~` stands for up to four words in between.
"""

from __future__ import annotations

import re


class Markers:
    """A pattern for lower-cased text: four times faster than one that ignores case."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)

    def search(self, text: str) -> re.Match[str] | None:
        """Return where a marker stands, None: nowhere."""
        return self._pattern.search(text.lower())

    def sub(self, other: str, text: str) -> str:
        """Return a text in small letters with something in place of its markers."""
        return self._pattern.sub(other, text.lower())


def _markers(english: str, chinese: str) -> Markers:
    """Compile entries, separated by `;` or a new line, into one pattern."""
    entries = [entry.strip() for entry in re.split(r"[;\n]", english)]
    spelled = "|".join(
        entry.replace(" ~ ", r" (?:\S{1,30} ){0,4}") for entry in entries if entry
    )
    return Markers(rf"\b(?:{spelled})(?!\w)|{'|'.join(chinese.split())}")


CONSTRAINT = _markers(
    r"""
    must; must not; mustn't; shall; never; always; only; ensure; avoid; strictly
    prefer; prefers; preferred; preferably; required?; requires; forbidden; prohibited
    mandatory; (?<!\bi )(?:do not|don't|dont|cannot|can't); should; shouldn't; needs? to
    ha(?:s|ve) to; ought to; not allowed; make sure; be sure; be careful
    stick (?:to|with)
    remember (?:to|that); keep (?:it|the|in|your|our|all|every|to|\w+ing); leave ~ alone
    leave ~ as (?:it|they|is); leave ~ untouched; at (?:most|least)
    no (?:more|less|fewer|later|earlier) than; (?:up to|less than|more than) \d\S*
    (?:within|under|below|above|over|after|before) \d\S*
    (?:by|before|until) (?:mon|tues|wednes|thurs|fri|satur|sun)day; from now on
    going forward; rather than; instead of; without (?:\w+ing|any|a|the)
    limit(?:ed)? (?:to|is|of|it); maximum; minimum; max; min; deadline; budget
    in (?:english|german|french|spanish|chinese|japanese|italian|portuguese)
    i(?:'d| would)? (?:want|like|prefer|need|insist|expect|hate|rely on)
    i (?:don't|do not) (?:want|like|accept|allow|trust|need|care)
    i (?:won't|cannot|can't) (?:use|accept|allow|take|have|afford|pay|go|do|give|work)
    we (?:want|need|use|only|always|never)
    we (?:don't|do not|cannot|can't); my (?:preference|rule|limit|style|convention)
    please (?:use|keep|write|do|don't|avoid|stick|follow|put|name|call|leave|respond)
    please (?:answer|reply|make sure|remember|note); use ~ (?:for|not|only|everywhere)
    use ~ (?:throughout|as the|instead|by default); target(?:ing)? \S+ \d\S*
    supports? ~ \d\S*; compatible with; off[- ]limits; out of scope; non-negotiable
    hard requirement; read-only; hands off; no (?:new|external|third-party|extra) \w+
    no (?:comments?|emojis?|mocks?|globals?|abbreviations?|frameworks?|downtime)
    refrain; stays? (?:as|the way|untouched|where); no exceptions?; let's not
    treat ~ as; unacceptable; (?:chang\w+) (?:my|our) mind; on second thought
    \w+ first, then; per (?:change|commit|file|page|user|request)
    under no circumstances; in no case; on no account; by no means; at all times
    may (?:only|not|never); (?:is|are) (?:fixed|capped|frozen|final|mandatory|taboo)
    (?:every|each|all|any) ~ (?:gets?|has|have|needs?|goe?s?|comes?|must|should|uses?)
    (?:i want|i need|we want) (?:all|every|each|no); by default; unless; ask me ~ before
    ask (?:me|us|first); (?:check|confirm|clear (?:it|this)) with (?:me|us); sign-?off
    (?:rule|policy|convention|guideline|requirement|restriction|standard)s?
    (?:limit|cap|restrict|hold) (?:\S{1,30} ){1,8}(?:to|at|below|under) \d\S*
    nobody (?:may|must|should)
    nothing (?:in|from|of|may|must|should|leaves); name (?:all|every|each|the)
    no (?:dependenc(?:y|ies)|librar(?:y|ies)|packages?|tests?|force[- ]push\w*)
    """,
    "只读 命名 尽可能 尽量 统一 "
    "先问 先确认 先征求 每个\\S{1,24}都 所有\\S{1,24}都 凡是?\\S{1,24}都 规定 规则 "
    "规范 底线 红线 改(?:成|为|用)(?!了) 换成(?!了) 以后(?!的) 必须 不允许 不可以 "
    "禁用 应当 应该 须 不要 不能 不得 不可 禁止 严禁 务必 "
    "只能 只用 只许 仅限 一律 始终 永远 "
    "别(?!的|人|名) "
    "请用 请使用 请勿 请保持 避免 尽量 优先 最好 保持 确保 保证 不超过 不少于 "
    "不低于 至少 最多 "
    "以内 之内 不许 不准 统一(?:用|使用|采用) 要求 限制 限定 记住 记得 以后都 "
    "从现在起 今后 希望 "
    "偏好 喜欢 不想 不需要 遵守 遵循 上限 下限 预算 截止 之前完成",
)

DECISION = _markers(
    r"""
    decid(?:ed|e|ing); decision; chose; chosen; choos(?:e|ing)
    opt(?:ed|ing)? (?:for|to)
    settl(?:ed|ing|e) (?:on|for); ended? up \w+ing; wins; won out; beats
    go(?:ing)? with; went with; picked; selected; agreed (?:on|to)
    concluded
    switch(?:ed|ing)? (?:to|from); migrat(?:ed|ing) to; adopt(?:ed|ing)?; rejected
    ruled out; prefer(?:red)? ~ over; trade-?off; stick(?:ing)? with; instead of
    the (?:right|best|chosen|better) (?:approach|option|choice|fix|solution)
    rather than; in favou?r of; deliberately; on purpose; by design
    (?:we|i)(?:'ll| will) (?:use|keep|implement|build|store|treat|base); let's use
    because; since (?:it|the|we|they|this|that); so that; due to; the reason
    (?:keep|keeping|kept|use|using|take|pick|prefer)(?:s|red)? ~ over; given that
    as (?:it|they|this|that) (?:is|are|has|have|does|do|needs?|would|can|was|were|\w+s)
    considering; in order to; that way; (?:more|less|better|worse|cheaper|faster) than
    """,
    "决定 选择了? 选用 采用 改用 换成 最终用 最终方案 敲定 确定(?:使用|采用|用|为) "
    "而不是 权衡 "
    "放弃了? 不采用 方案(?:是|为) 因此(?:用|改|采|选) 所以(?:用|改|采|选) 因为 由于 "
    "商定 约定 一致同意 定下来 定为 选定 原因是 理由是 以便 考虑到 鉴于 "
    "这样(?:一来|可以|能|更)?",
)
STRONG_DECISION = _markers(
    r"""
    decid(?:ed|e|ing); decision; chose; chosen; opted (?:for|to); settled on; going with
    went with; picked; agreed (?:on|to); switch(?:ed|ing)? to; adopt(?:ed|ing); rejected
    ruled out; in favou?r of; sticking with; let's use; (?:we|i)(?:'ll| will) use
    """,
    "决定 选择了 选用 采用 改用 最终用 最终方案 敲定 确定(?:使用|采用|用|为) 放弃 "
    "不采用",
)

DONE = _markers(
    r"""
    (?:fixed|added|implemented|created|updated|removed|deleted|renamed|moved|refactored)
    (?:wrote|written|changed|replaced|installed|configured|deployed|committed|pushed)
    (?:merged|migrated|resolved|completed|finished|verified|tested|documented|cleaned)
    (?:reverted|upgraded|patched|converted|extracted|identified|confirmed|released)
    tests? (?:now )?pass(?:es|ed)?; (?:is|are) (?:now )?(?:done|complete|fixed|in place)
    works now; successfully; found; published; built; done; all green; all set
    (?:have|has) (?:now |just |already )?\w{3,20}ed
    """,
    "已(?:经)?(?:修复|完成|添加|创建|更新|删除|实现|修改|部署|提交) "
    "已(?:经)?(?:合并|解决|验证|移除|重构|迁移) "
    " "
    "修好了 完成了 搞定 做完 测试(?:全部)?通过",
)

NEXT = _markers(
    r"""
    next; next steps?; remaining; still (?:need|needs|have|open|missing|left)
    left to do
    i(?:'ll| will); i(?:'m| am) going to; afterwards
    follow[- ]?ups?
    pending; not yet; yet to; to ?do
    """,
    "下一步 接下来 然后我 还需要 还要 剩下 剩余 待办 尚未 还没 未完成 后续 现在来 "
    "我将 我会",
)

TODO = _markers(
    r"""
    todo; to-do; fixme; action item; remaining; still (?:need|needs|have|has) to
    left to do; open item; outstanding; follow[- ]?up; backlog; don't forget to
    remember to; pending; not yet (?:done|implemented|tested|started|written|fixed)
    ha(?:s|ve) yet to; need(?:s)? to be (?:done|fixed|added|written|tested|updated)
    still (?:open|missing|to do); (?:is|are|what's|what is|things) left
    (?:remains?|stays?|left) (?:to be \w+|to do|open|undone|unfinished|outstanding)
    (?:have|has|had)(?:n't| not) ~ yet; (?:is|are)(?:n't| not) ~ yet; got round to
    gott?e?n? around to; next up; up next; next (?:step|task|item)s? (?:is|are|will be)
    yet to be; to be (?:done|decided|continued) (?:later|next|afterwards); open points?
    (?:come|get|circle) back to; make a note to; at some point; eventually; some day
    not \w+ yet; for later; later on
    """,
    "待办 待处理 待完成 还需要 还要做 剩下 尚未 还没(?:有)?(?!关系|问题) "
    "别忘了?(?!记) 未完成 还得 还要 有待 没来得及 余下 "
    "(?:接下来|下一步|之后|随后)(?:要|得|需要|还要|是|就是|应该) 稍后(?:要|再) "
    "回头(?:要|再) "
    "后续(?:要|需要)",
)

BLOCKED = _markers(
    r"""
    blocked; blocker; stuck (?:on|at|because); waiting (?:for|on); unable to
    can(?:'t|not) (?:proceed|continue|go on|access|reach); not permitted; no access
    needs? (?:your|the user's|an? admin|access|approval|permission|clarification)
    requires? (?:your|manual|approval|permission|access)
    out of (?:disk|memory|quota|credits)
    """,
    "卡住 阻塞 无法继续 无法访问 等待(?:用户|你|审批|确认) "
    "需要(?:你|用户|管理员|权限|授权|确认) "
    "没有权限",
)

CANCEL = _markers(
    r"""
    stop; cancel(?:led)?; abort; forget (?:about|the|it|that); never ?mind; scrap; skip
    drop (?:the|that|it); no longer (?:need|want|required|needed); abandon(?:ed)?
    don't (?:bother|do|need); do not (?:bother|do|need); not needed; undo; revert
    leave ~ for now; leave ~ out; call(?:ed)? off; on hold; postponed?
    no need (?:to|for); not necessary; unnecessary; no point in; won't be needed
    (?:needn't|need not); no longer necessary; don't worry about; that's off the table
    """,
    "取消 不用了 不需要了 别做 停止 停下 算了 放弃 撤销 暂停 先不做 不做了 作废 搁置 "
    r"不用(?:再)?[^\s，。]{1,4}了 不必(?:再|了)? 无需(?:再)? 没必要 别管 不用管 免了 "
    "先不(?:管|弄|搞) 不要做了",
)

WHOLE_WORK = _markers(
    r"""
    work; task; job; feature; effort; idea; plan; migration; cancel; scrap; abandon
    forget (?:about|the|it|that); never ?mind; drop (?:the|that|it); call(?:ed)? off
    """,
    "任务 工作 功能 取消 放弃 作废 搁置",
)
"""With one of these, calling off speaks of a whole piece of work, not of a detail."""

CHANGE = _markers(
    r"""
    actually; instead; changed? (?:it|that|the|to|my|our); from now on; no longer
    now (?:use|it|the|we); correction; scratch that; on second thought; not \S+ but
    make (?:it|that); switch(?:ed)? to; increased?; decreased?; raised?; lowered?; bump
    updated?; now; any ?more; any longer; instead of; rather than; in place of
    (?:changed?|changing) my mind; what i (?:said|told|wrote|asked); i was wrong
    forget what i (?:said|told|wrote); too (?:tight|short|long|low|high|small|large|big)
    too (?:few|many|much|slow|strict|wide|narrow); not \d\S*; replaces?; on reflection
    """,
    "改成 改为 换成 不再 更正 更新 改用 调整(?:为|到) 提高到 降低到 应该是 从现在起 "
    "实际上 现在 不要再 别再 改主意 改变主意 收回 之前说的 换到 换为 转用 改走 "
    r"太(?:窄|短|长|低|高|小|大|少|多|慢|宽) 不是\d 而不是",
)

FINISHED = _markers(
    r"""
    done; successfully; finished; completed?; all green; already; just; now
    """,
    "已经 已 完成了? 搞定了? 好了 了 待办",
)
"""What only says that something is finished, not what."""

GO_ON = _markers(
    r"""
    continue; carry on; go on; go ahead; proceed; keep going; keep at it; resume
    looks? (?:good|fine|ok|great); sounds good; thanks?; thank you; well done; perfect
    """,
    "继续 接着 往下 可以 好的 没问题 谢谢 辛苦",
)
"""A word that lets the agent go on, and asks for nothing of its own."""

TASK = _markers(
    r"""
    please; could you; can you; would you; will you; i(?:'d| would) like you to
    i (?:want|need) you to; we need (?:you )?to; your (?:task|job) is; let's; help me
    """,
    "请 帮我 帮忙 麻烦 能不能 能否 你来 给我",
)
"""A request for a piece of work."""

QUESTION = re.compile(r"[?？]\s*[\"')\]*_]{0,3}\Z")
