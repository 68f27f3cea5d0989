"""How people, agents and tools say things, in English; « » marks what must survive."""

from __future__ import annotations

CONSTRAINTS = (
    "From now on «route every {thing} request through {name}».",
    "One more thing, «the {thing} must stay under {n} MB».",
    "Please make sure that «nothing in {path} is touched».",
    "Whatever you do, «leave the {thing} alone».",
    "Under no circumstances «may the {thing} write to {name}».",
    "I'd prefer «short commit subjects prefixed with {name}:» if you don't mind.",
    "«No new dependencies in the {thing}», ever.",
    "«The {thing} is off limits» until legal has signed.",
    "Keep in mind that «we only ship the {thing} on Node {n}».",
    "Stick to «the {name} colour scheme for the {thing}» please.",
    "«Don't call the {name} API more than {n} times a minute».",
    "It has to «work without {name} on the {thing}», that is important to us.",
    "House rule: «every {thing} gets a regression test».",
    "I want «all {thing} labels in sentence case».",
    "You may «never store {thing} data outside {name}».",
    "Always «ask me before you delete anything of the {thing}».",
    "The budget for the {thing} is fixed: «at most {n} queries per {thing}».",
    "«Answers about the {thing} should be in British English», thanks.",
)
CHANGES = (  # topic, one phrasing each for the old and the new value
    (
        "For the {thing}, use {old} as the queue.",
        "Scrap what I said about the queue of the {thing}: use {new} as the queue.",
    ),
    (
        "The {thing} should listen on port {old}.",
        "I changed my mind, the {thing} should listen on port {new} instead.",
    ),
    (
        "Limit lines in the {thing} to {old} columns.",
        "Limit lines in the {thing} to {new} columns, {old} is too tight.",
    ),
    (
        "Please deploy the {thing} to the {old} cluster.",
        "Don't deploy the {thing} to the {old} cluster any more, take {new}.",
    ),
    (
        "Name all branches of the {thing} {old}/something.",
        "Branches of the {thing} are no longer called {old}/…, please name them "
        "{new}/something.",
    ),
    (
        "Always run the {thing} checks with {old}.",
        "Always run the {thing} checks with {new}.",
    ),
    (
        "The retention of the {thing} must be {old} days.",
        "Actually the retention of the {thing} must be {new} days, not {old}.",
    ),
)
OPPOSED = (  # the same question, answered twice
    ("Indent the code of the {thing} with tabs.", "Use spaces, not tabs, there."),
    ("Write identifiers in camelCase.", "Identifiers in snake_case please."),
    ("Use single quotes everywhere.", "Use double quotes everywhere."),
    ("Reply in German.", "Please reply in English from here on."),
)
TODOS = (
    "We still have to «backfill the {thing}».",
    "Still open: «wire {name} into the {thing}».",
    "TODO: «drop the legacy column from the {thing}».",
    "Don't forget to «rotate the {name} certificate» later.",
    "After that, «translate the {thing} texts to {Name}» remains to be done.",
    "I have not got round to «documenting the {thing}» yet.",
    "What is left: «load test the {thing} with {n} users».",
    "- [ ] «rename {name} in the {thing}»",
    "Next up is to «split the {thing} into two modules».",
)
CLOSED = (  # how it was opened, how it was closed or called off
    ("We still have to «prune the {thing}».", "I have now pruned the {thing}."),
    ("TODO: «reindex the {thing}»", "Done: reindex the {thing}. All green."),
    ("- [ ] «publish the {thing}»", "- [x] publish the {thing}"),
    ("Please «port the {thing} to {Name}».", "Never mind the {thing}, drop that."),
    ("Please «rewrite the {thing} in {Name}».", "Forget about the {thing} rewrite."),
    ("Could you «benchmark the {thing}»?", "No need to benchmark the {thing}."),
)
DECISIONS = (
    "I went with «{name} because the {thing} needs ordered delivery».",
    "Decision: «cursor pagination for the {thing}, since offsets drift».",
    "«We keep {name} over {other} as it needs no extra daemon».",
    "After comparing both I settled on «{name} for the {thing}; {other} leaks memory».",
    "We agreed to «store the {thing} in {name} so that restores stay cheap».",
    "Let's «use {name} rather than {other}: it is already on the hosts».",
    "I chose «a nightly batch for the {thing} due to rate limits».",
)
QUESTIONS = (
    "Should «the {thing} keep rows older than {n} days»?",
    "One question before I go on: «which region hosts the {thing}»?",
    "Do you want «{name} or {other} for the {thing}»?",
    "«Who signs off the {thing}»?",
    "Quick check, «is {name} allowed to read the {thing}»?",
)
ANSWERED = (
    ("Shall I enable {name} for the {thing}?", "Yes, go ahead."),
    ("Is the {thing} frozen this week?", "No, it is not."),
)
SAID = (  # identifiers in what people and agents say
    "The regression came in with «{sha}», I bisected it.",
    "Finance approved «{amount}» EUR for the {thing}.",
    "It is tracked as «{ticket}» on our board.",
    "Staging for this lives at «{url}».",
    "Freeze starts on «{date}», everything must be merged before.",
    "Customer «{uuid}» is the one who sees the duplicates.",
    "We are pinned to {name} «{version}» because of the driver.",
    "The old box was «{ip}», it is gone from DNS.",
)
GOALS = (
    "I need your help with something larger. «Move the {thing} from {name} to "
    "{other} without downtime». Take your time and look around first.",
    "Our team wants to «replace the {thing} by one that speaks {Name}». Let me know "
    "what you find on the way.",
)
NEXT = (
    "Good. Please carry on with the {thing}.",
    "ok, what about the {thing}?",
    "Looks fine to me. Go on.",
    "Thanks! Have a look at the {thing} as well.",
    "Hm, that took a while. Continue please.",
)
REMARKS = (
    "Let me look at how the {thing} is put together.",
    "The {thing} reads its settings in two places.",
    "This part is older than the rest, I will go slowly.",
    "I see the same shape in the {thing}.",
    "Fine so far, one more look.",
)
