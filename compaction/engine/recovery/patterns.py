"""How providers word their errors: data only, lower case, first match in order wins.

`ANY_STATUS` patterns hold whatever the status, the rest only with theirs.
"""

from __future__ import annotations

from collections.abc import Mapping

from compaction.engine.recovery.reasons import Reason

Patterns = tuple[str, ...]

OUTPUT_CAP: Patterns = (
    "max_tokens is too large",
    "max_tokens too large",
    "max_completion_tokens is too large",
    "supports at most",
    "maximum output tokens",
    "max_output_tokens",
    "max_tokens must be",
    "max_tokens: ",
    "range of max_tokens",
    "max_new_tokens",
)

CONTEXT_OVERFLOW: Patterns = (
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "maximum context",
    "max_model_len",
    "n_ctx",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "input too long",
    "too many tokens",
    "too many input tokens",
    "token limit",
    "exceeds the maximum number of tokens",
    "exceeds the limit of",
    "exceed max tokens",
    "reduce the length",
    "reduce your prompt",
    "please shorten",
    "maximum prompt length",
    "input token count",
    "input length",
    "request exceeds the maximum size of tokens",
    "上下文长度",
    "上下文超出",
    "超过最大长度",
    "超出最大长度",
    "超出最大token",
    "最大上下文",
    "输入过长",
    "输入长度超",
    "トークン数が",
    "コンテキスト長",
    "토큰 수",
    "컨텍스트 길이",
    "longitud de contexto",
    "longueur de contexte",
    "kontextlänge",
)

LONG_CONTEXT: Patterns = ("long context", "long-context", "context-1m")
EXTRA_USAGE: Patterns = ("extra usage", "usage tier", "higher tier", "not available")

PAYLOAD: Patterns = (
    "request entity too large",
    "payload too large",
    "content too large",
    "body too large",
    "request too large",
    "request_too_large",
    "body exceeded",
    "请求体过大",
)

IMAGE: Patterns = (
    "image exceeds",
    "image too large",
    "image size",
    "image dimensions exceed",
    "too many images",
    "图片过大",
)

BILLING: Patterns = (
    "insufficient_quota",
    "insufficient quota",
    "insufficient credits",
    "insufficient balance",
    "insufficient_credits",
    "no_usable_credits",
    "billing_not_active",
    "billing hard limit",
    "payment_required",
    "payment required",
    "exceeded your current quota",
    "credit balance is too low",
    "out of credits",
    "balance_depleted",
    "model_not_supported_on_free_tier",
    "余额不足",
    "欠费",
    "额度不足",
    "残高不足",
)

RATE: Patterns = (
    "rate limit",
    "rate_limit",
    "ratelimit",
    "too many requests",
    "resource_exhausted",
    "resource has been exhausted",
    "throttl",
    "requests per minute",
    "tokens per minute",
    "tokens per day",
    "quota exceeded",
    "concurrency limit",
    "请求过于频繁",
    "访问频率",
    "限流",
    "速率限制",
    "レート制限",
    "요청이 너무",
)

TRANSIENT: Patterns = (
    "try again",
    "resets at",
    "reset at",
    "retry in",
    "retry after",
    "per minute",
    "稍后",
)
"""Words that turn a used-up limit into one that comes back."""

OVERLOADED: Patterns = (
    "overloaded",
    "at capacity",
    "no capacity",
    "server is busy",
    "currently unavailable",
    "temporarily unavailable",
    "服务繁忙",
    "服务器繁忙",
    "系统繁忙",
    "混雑",
)

AUTH: Patterns = (
    "invalid api key",
    "invalid_api_key",
    "incorrect api key",
    "invalid x-api-key",
    "unauthorized",
    "authentication",
    "token expired",
    "expired token",
    "access denied",
    "permission denied",
    "permission_denied",
    "not allowed to access",
    "forbidden",
    "api key not valid",
    "无效的api",
    "无效的令牌",
    "认证失败",
    "鉴权失败",
    "未授权",
)

MODEL: Patterns = (
    "model_not_found",
    "model not found",
    "no such model",
    "unknown model",
    "invalid model",
    "model does not exist",
    "model is not available",
    "model_not_available",
    "is not a valid model",
    "does not exist or you do not have access",
    "not supported model",
    "has been deprecated",
    "模型不存在",
    "模型未找到",
    "不支持的模型",
)

PROVIDER_POLICY: Patterns = ("data policy", "no endpoints found matching your data")
CONTENT_POLICY: Patterns = (
    "content_policy",
    "content policy",
    "content_filter",
    "content management policy",
    "safety system",
    "flagged",
    "responsibleai",
    "sensitive",
    "敏感",
    "内容安全",
    "违规",
)
CERTIFICATE: Patterns = (
    "certificate verify failed",
    "certificate_verify_failed",
    "self-signed certificate",
    "self signed certificate",
    "certificate has expired",
    "hostname mismatch",
)
TIMEOUT: Patterns = ("timed out", "timeout", "deadline exceeded", "超时")

BY_STATUS: Mapping[int, Reason] = {
    401: Reason.AUTH,
    402: Reason.BILLING,
    403: Reason.AUTH,
    404: Reason.MODEL_NOT_FOUND,
    408: Reason.TIMEOUT,
    413: Reason.PAYLOAD_TOO_LARGE,
    429: Reason.RATE_LIMIT,
    500: Reason.SERVER_ERROR,
    502: Reason.SERVER_ERROR,
    503: Reason.SERVER_ERROR,
    504: Reason.TIMEOUT,
    520: Reason.SERVER_ERROR,
    522: Reason.TIMEOUT,
    524: Reason.TIMEOUT,
    529: Reason.OVERLOADED,
}
"""What a status means when its words say nothing more (article 003's table)."""
