"""Addresses of the console: one list per noun."""

from __future__ import annotations

from django.urls import URLPattern, path

from compaction.views import (
    compact,
    context,
    cooldowns,
    endpoints,
    imports,
    lineage,
    losses,
    memory,
    overview,
    policies,
    raw,
    recovery,
    run_stream,
    runs,
    session_policy,
    sessions,
    sign_in,
    summaries,
    task_state,
    timeline,
    turn_stream,
    turns,
)

session_urls: list[URLPattern] = [
    path("sessions/", sessions.list_sessions, name="session-list"),
    path("sessions/new/", turns.begin_conversation, name="session-new"),
]

context_urls: list[URLPattern] = [
    path("sessions/<str:session_id>/", context.show_context, name="session-context"),
    path(
        "sessions/<str:session_id>/messages/<int:position>/",
        context.show_message,
        name="session-message",
    ),
    path(
        "sessions/<str:session_id>/cooldown/clear/",
        cooldowns.clear,
        name="cooldown-clear",
    ),
]

compact_urls: list[URLPattern] = [
    path("sessions/<str:session_id>/compact/", compact.compact, name="session-compact"),
    path(
        "sessions/<str:session_id>/compact/prompt/",
        compact.show_prompt,
        name="session-prompt",
    ),
]

lineage_urls: list[URLPattern] = [
    path(
        "sessions/<str:session_id>/lineage/",
        lineage.show_lineage,
        name="session-lineage",
    ),
    path(
        "sessions/<str:session_id>/lineage/known/",
        lineage.show_known,
        name="session-known",
    ),
]

raw_urls: list[URLPattern] = [
    path("sessions/<str:session_id>/raw/", raw.show_raw, name="session-raw"),
    path(
        "sessions/<str:session_id>/raw/<int:position>/",
        raw.show_raw_message,
        name="session-raw-message",
    ),
    path("sessions/<str:session_id>/raw/export/", raw.export, name="session-export"),
]

run_urls: list[URLPattern] = [
    path("runs/", runs.list_all_runs, name="run-list"),
    path("runs/<uuid:run_id>/", runs.show_run, name="run"),
    path("runs/<uuid:run_id>/progress/", runs.show_run_progress, name="run-progress"),
    path("runs/<uuid:run_id>/events/", run_stream.stream_run, name="run-events"),
    path("runs/<uuid:run_id>/cancel/", runs.stop_run, name="run-cancel"),
]

summary_urls: list[URLPattern] = [
    path(
        "sessions/<str:session_id>/summaries/",
        summaries.show_summaries,
        name="session-summaries",
    ),
    path(
        "sessions/<str:session_id>/summaries/edit/",
        summaries.change_summary,
        name="session-summary-edit",
    ),
    path(
        "sessions/<str:session_id>/summaries/restore/",
        summaries.bring_back_summary,
        name="session-summary-restore",
    ),
    path(
        "sessions/<str:session_id>/summaries/losses/",
        losses.answer_loss,
        name="session-loss",
    ),
]

task_state_urls: list[URLPattern] = [
    path(
        "sessions/<str:session_id>/task/",
        task_state.show_task_state,
        name="session-task",
    ),
    path(
        "sessions/<str:session_id>/task/change/",
        task_state.change_task_state,
        name="session-task-change",
    ),
    path(
        "sessions/<str:session_id>/task/restore/",
        task_state.bring_back_task_state,
        name="session-task-restore",
    ),
]

timeline_urls: list[URLPattern] = [
    path(
        "sessions/<str:session_id>/timeline/",
        timeline.show_timeline,
        name="session-timeline",
    ),
    path(
        "sessions/<str:session_id>/timeline/events/",
        timeline.stream_timeline,
        name="session-timeline-events",
    ),
]

turn_urls: list[URLPattern] = [
    path("sessions/<str:session_id>/turn/", turns.chat, name="session-turn"),
    path(
        "sessions/<str:session_id>/turn/fresh/", turns.begin_fresh, name="session-fresh"
    ),
    path("turns/<uuid:turn_id>/", turns.show_turn, name="turn"),
    path(
        "turns/<uuid:turn_id>/progress/", turns.show_turn_progress, name="turn-progress"
    ),
    path("turns/<uuid:turn_id>/events/", turn_stream.stream_turn, name="turn-events"),
    path("turns/<uuid:turn_id>/cancel/", turns.stop_turn, name="turn-cancel"),
]

memory_urls: list[URLPattern] = [
    path(
        "sessions/<str:session_id>/memory/", memory.show_memory, name="session-memory"
    ),
    path(
        "sessions/<str:session_id>/memory/add/", memory.add, name="session-memory-add"
    ),
    path(
        "sessions/<str:session_id>/memory/change/",
        memory.change,
        name="session-memory-change",
    ),
]

recovery_urls: list[URLPattern] = [
    path("recovery/", recovery.show_recovery, name="recovery"),
    path("recovery/events/", recovery.stream_recovery, name="recovery-events"),
]

overview_urls: list[URLPattern] = [
    path("", overview.show_overview, name="overview"),
]

policy_urls: list[URLPattern] = [
    path("policies/", policies.list_policies, name="policy-list"),
    path("policies/new/", policies.make_profile, name="policy-new"),
    path("policies/profiles/<slug:name>/", policies.change_profile, name="policy-edit"),
    path(
        "policies/profiles/<slug:name>/delete/",
        policies.remove_profile,
        name="policy-delete",
    ),
    path(
        "sessions/<str:session_id>/policy/",
        session_policy.change_policy,
        name="session-policy",
    ),
]

endpoint_urls: list[URLPattern] = [
    path("endpoints/", endpoints.list_endpoints, name="endpoint-list"),
    path("endpoints/new/", endpoints.add, name="endpoint-new"),
    path("endpoints/<slug:name>/", endpoints.change, name="endpoint-edit"),
    path("endpoints/<slug:name>/delete/", endpoints.delete, name="endpoint-delete"),
    path("endpoints/<slug:name>/move/", endpoints.move, name="endpoint-move"),
    path("endpoints/<slug:name>/enable/", endpoints.enable, name="endpoint-enable"),
    path("endpoints/<slug:name>/disable/", endpoints.disable, name="endpoint-disable"),
    path("endpoints/<slug:name>/test/", endpoints.test, name="endpoint-test"),
]

import_urls: list[URLPattern] = [
    path("import/", imports.import_files, name="import"),
    path("import/home/", imports.import_home, name="import-home"),
    path("import/<uuid:job_id>/cancel/", imports.stop_import, name="import-cancel"),
]

sign_in_urls: list[URLPattern] = [
    path("sign-in/", sign_in.ask_to_sign_in, name="sign-in"),
    path("sign-in/<str:token>/", sign_in.use_link, name="sign-in-link"),
    path("sign-out/", sign_in.sign_out, name="sign-out"),
]

urlpatterns: list[URLPattern] = [
    *overview_urls,
    *session_urls,
    *context_urls,
    *compact_urls,
    *lineage_urls,
    *raw_urls,
    *summary_urls,
    *task_state_urls,
    *timeline_urls,
    *turn_urls,
    *memory_urls,
    *recovery_urls,
    *run_urls,
    *policy_urls,
    *endpoint_urls,
    *import_urls,
    *sign_in_urls,
]
