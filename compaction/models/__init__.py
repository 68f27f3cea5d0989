"""What is stored, one module per noun; the database is the truth."""

from __future__ import annotations

from compaction.models.conversation import Conversation, PolicyProfile
from compaction.models.cooldown import Cooldown
from compaction.models.endpoint import Endpoint
from compaction.models.evidence_trace import EvidenceTrace
from compaction.models.imports import ImportJob
from compaction.models.loop_event import LoopEvent
from compaction.models.memory import MemoryItem
from compaction.models.message import Message
from compaction.models.operator import AuditHead, OperatorAction, SignInToken
from compaction.models.recovery import RecoveryEvent
from compaction.models.run import Run, RunChunk
from compaction.models.session import Session
from compaction.models.summary import DismissedEvidence, Summary
from compaction.models.task_state import TaskState, TaskStateVersion, Todo
from compaction.models.token_cache import TokenCountCache
from compaction.models.turn import Turn, TurnCall, TurnChunk
from compaction.models.worker_sign import WorkerSign

__all__ = [
    "AuditHead",
    "Conversation",
    "Cooldown",
    "DismissedEvidence",
    "Endpoint",
    "EvidenceTrace",
    "ImportJob",
    "LoopEvent",
    "MemoryItem",
    "Message",
    "OperatorAction",
    "PolicyProfile",
    "RecoveryEvent",
    "Run",
    "RunChunk",
    "Session",
    "SignInToken",
    "Summary",
    "TaskState",
    "TaskStateVersion",
    "Todo",
    "TokenCountCache",
    "Turn",
    "TurnCall",
    "TurnChunk",
    "WorkerSign",
]
