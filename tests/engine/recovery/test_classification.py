# A row is a provider's sentence: breaking it would hide what is compared.
# ruff: noqa: E501
"""What providers really say, and what each of it is: one row per message."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from compaction.engine.llm import ErrorKind, ModelError
from compaction.engine.recovery.classification import classify
from compaction.engine.recovery.reasons import REMEDIES, Reason

R = Reason

ROWS: list[tuple[int | None, str, Reason]] = [
    # rate limits
    (429, "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM)", R.RATE_LIMIT),
    (429, "Rate limit reached for requests. Limit: 3 / min. Please try again in 20s.", R.RATE_LIMIT),
    (429, "This request would exceed your organization's rate limit of 40,000 input tokens per minute.", R.RATE_LIMIT),
    (429, "Number of request tokens has exceeded your per-minute rate limit", R.RATE_LIMIT),
    (429, "Resource has been exhausted (e.g. check quota).", R.RATE_LIMIT),
    (429, "RESOURCE_EXHAUSTED", R.RATE_LIMIT),
    (429, "Too Many Requests", R.RATE_LIMIT),
    (429, "", R.RATE_LIMIT),
    (429, "Requests to the ChatCompletions_Create Operation have exceeded call rate limit. Please retry after 7 seconds.", R.RATE_LIMIT),
    (429, "您的账户已达到速率限制，请稍后重试", R.RATE_LIMIT),
    (429, "请求过于频繁，请稍后再试", R.RATE_LIMIT),
    (429, "当前访问频率过高", R.RATE_LIMIT),
    (429, "レート制限に達しました", R.RATE_LIMIT),
    (429, "요청이 너무 많습니다", R.RATE_LIMIT),
    (429, "You exceeded your current quota. Please try again in 40s.", R.RATE_LIMIT),
    (400, "rate_limit_exceeded: slow down", R.RATE_LIMIT),
    (400, "ThrottlingException: request was throttled", R.RATE_LIMIT),
    (402, "Usage limit reached, resets at 12:00", R.BILLING),
    (429, "Provider returned error: openai/gpt-4o is temporarily rate-limited upstream", R.UPSTREAM_RATE_LIMIT),
    (429, "Rate limited by upstream provider", R.UPSTREAM_RATE_LIMIT),
    # the long-context tier
    (429, "Extra usage is required for long context requests.", R.LONG_CONTEXT_TIER),
    (429, "Long context requests need extra usage enabled on this account", R.LONG_CONTEXT_TIER),
    (429, "The long context beta is not available for this usage tier", R.LONG_CONTEXT_TIER),
    # overload
    (529, "Overloaded", R.OVERLOADED),
    (529, "", R.OVERLOADED),
    (503, "The model is overloaded. Please try again later.", R.OVERLOADED),
    (503, "The server is currently overloaded with other requests", R.OVERLOADED),
    (429, "The engine is currently overloaded, please try again later", R.OVERLOADED),
    (429, "We are at capacity", R.OVERLOADED),
    (500, "overloaded_error", R.OVERLOADED),
    (503, "服务器繁忙，请稍后重试", R.OVERLOADED),
    (503, "系统繁忙", R.OVERLOADED),
    (503, "現在混雑しています", R.OVERLOADED),
    (503, "Service temporarily unavailable", R.OVERLOADED),
    # the server's own trouble
    (500, "The server had an error while processing your request. Sorry about that!", R.SERVER_ERROR),
    (500, "Internal server error", R.SERVER_ERROR),
    (500, "", R.SERVER_ERROR),
    (502, "<html><head><title>502 Bad Gateway</title></head></html>", R.SERVER_ERROR),
    (502, "Bad gateway", R.SERVER_ERROR),
    (503, "Service Unavailable", R.SERVER_ERROR),
    (520, "Web server is returning an unknown error", R.SERVER_ERROR),
    (599, "Network connect error", R.SERVER_ERROR),
    (500, "内部错误", R.SERVER_ERROR),
    # time
    (408, "Request timeout", R.TIMEOUT),
    (504, "Gateway Time-out", R.TIMEOUT),
    (524, "A timeout occurred", R.TIMEOUT),
    (522, "Connection timed out", R.TIMEOUT),
    (None, "Request timed out.", R.TIMEOUT),
    # who one is
    (401, "Incorrect API key provided: sk-xxxx. You can find your API key at the account page.", R.AUTH),
    (401, "invalid x-api-key", R.AUTH),
    (401, "Unauthorized", R.AUTH),
    (401, "No auth credentials found", R.AUTH),
    (401, "token expired or incorrect", R.AUTH),
    (401, "认证失败", R.AUTH),
    (401, "无效的API Key", R.AUTH),
    (401, "", R.AUTH),
    (403, "Your API key does not have permission to use the specified resource.", R.AUTH),
    (403, "Forbidden", R.AUTH),
    (403, "Country, region, or territory not supported", R.AUTH),
    (403, "鉴权失败", R.AUTH),
    (400, "API key not valid. Please pass a valid API key.", R.AUTH),
    (400, "authentication_error: token invalid", R.AUTH),
    # money
    (402, "Insufficient Balance", R.BILLING),
    (402, "This request requires more credits, or fewer max_tokens.", R.BILLING),
    (402, "", R.BILLING),
    (429, "You exceeded your current quota, please check your plan and billing details.", R.BILLING),
    (429, "insufficient_quota", R.BILLING),
    (400, "Your credit balance is too low to access the API.", R.BILLING),
    (403, "billing_not_active: Your account is not active", R.BILLING),
    (403, "Out of credits", R.BILLING),
    (429, "账户余额不足，请充值", R.BILLING),
    (403, "账户已欠费", R.BILLING),
    (400, "Billing hard limit has been reached", R.BILLING),
    (404, "model_not_supported_on_free_tier", R.BILLING),
    # which model
    (404, "The model `gpt-9` does not exist or you do not have access to it.", R.MODEL_NOT_FOUND),
    (404, "model: claude-9 not found", R.MODEL_NOT_FOUND),
    (404, "", R.MODEL_NOT_FOUND),
    (404, "No endpoints found for vendor/model.", R.MODEL_NOT_FOUND),
    (404, "The requested model has been deprecated", R.MODEL_NOT_FOUND),
    (400, "gpt-9 is not a valid model ID", R.MODEL_NOT_FOUND),
    (400, "invalid model: abc", R.MODEL_NOT_FOUND),
    (400, "Unknown model: abc", R.MODEL_NOT_FOUND),
    (403, "model_not_found: project has no access", R.MODEL_NOT_FOUND),
    (404, "模型不存在", R.MODEL_NOT_FOUND),
    (400, "不支持的模型", R.MODEL_NOT_FOUND),
    # the window
    (400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.", R.CONTEXT_OVERFLOW),
    (400, "context_length_exceeded", R.CONTEXT_OVERFLOW),
    (400, "prompt is too long: 210000 tokens > 200000 maximum", R.CONTEXT_OVERFLOW),
    (400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length", R.CONTEXT_OVERFLOW),
    (400, "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).", R.CONTEXT_OVERFLOW),
    (400, "Input is too long for requested model.", R.CONTEXT_OVERFLOW),
    (400, "Requested token count exceeds the model's maximum context length of 131072 tokens.", R.CONTEXT_OVERFLOW),
    (400, "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens", R.CONTEXT_OVERFLOW),
    (400, "the request exceeds the available context size. try increasing the context size or enable context shift", R.CONTEXT_OVERFLOW),
    (400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", R.CONTEXT_OVERFLOW),
    (400, "Prompt contains 40000 tokens, too large for model with 32768 max_model_len", R.CONTEXT_OVERFLOW),
    (400, "slot context is full, n_ctx = 4096", R.CONTEXT_OVERFLOW),
    (500, "maximum context length exceeded", R.CONTEXT_OVERFLOW),
    (503, "too many tokens in prompt", R.CONTEXT_OVERFLOW),
    (422, "Please reduce your prompt; token limit reached", R.CONTEXT_OVERFLOW),
    (400, "输入长度超过最大长度限制 32768", R.CONTEXT_OVERFLOW),
    (400, "上下文长度超出模型限制", R.CONTEXT_OVERFLOW),
    (400, "输入过长", R.CONTEXT_OVERFLOW),
    (400, "入力のトークン数が上限を超えています", R.CONTEXT_OVERFLOW),
    (400, "컨텍스트 길이를 초과했습니다", R.CONTEXT_OVERFLOW),
    (400, "La longitud de contexto máxima es 8192", R.CONTEXT_OVERFLOW),
    (400, "La longueur de contexte maximale est dépassée", R.CONTEXT_OVERFLOW),
    (400, "Die maximale Kontextlänge wurde überschritten", R.CONTEXT_OVERFLOW),
    (None, "prompt is too long for the context window", R.CONTEXT_OVERFLOW),
    # the answer's own limit
    (400, "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.", R.OUTPUT_CAP),
    (400, "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet", R.OUTPUT_CAP),
    (400, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", R.OUTPUT_CAP),
    (400, "max_completion_tokens is too large", R.OUTPUT_CAP),
    (400, "max_new_tokens must be <= 4096", R.OUTPUT_CAP),
    # bytes and pictures
    (413, "Request Entity Too Large", R.PAYLOAD_TOO_LARGE),
    (413, "", R.PAYLOAD_TOO_LARGE),
    (413, "request_too_large: Request exceeds the maximum size", R.PAYLOAD_TOO_LARGE),
    (413, "prompt is too long", R.PAYLOAD_TOO_LARGE),
    (400, "Request body too large", R.PAYLOAD_TOO_LARGE),
    (500, "payload too large", R.PAYLOAD_TOO_LARGE),
    (400, "请求体过大", R.PAYLOAD_TOO_LARGE),
    (400, "image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes", R.IMAGE_TOO_LARGE),
    (400, "image dimensions exceed max allowed size: 8000 pixels", R.IMAGE_TOO_LARGE),
    (400, "图片过大", R.IMAGE_TOO_LARGE),
    # what may be said
    (400, "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", R.CONTENT_POLICY),
    (400, "Your request was rejected as a result of our safety system.", R.CONTENT_POLICY),
    (400, "输入内容包含敏感信息", R.CONTENT_POLICY),
    (403, "Input was flagged by moderation", R.CONTENT_POLICY),
    (404, "No endpoints found matching your data policy.", R.PROVIDER_POLICY),
    # the request itself
    (400, "Unsupported parameter: 'temperature' is not supported with this model.", R.FORMAT_ERROR),
    (400, "Invalid value for 'messages[3].content': expected a string, got null.", R.FORMAT_ERROR),
    (400, "An assistant message with 'tool_calls' must be followed by tool messages", R.FORMAT_ERROR),
    (422, "Unprocessable entity", R.FORMAT_ERROR),
    (400, "", R.FORMAT_ERROR),
    (418, "I'm a teapot", R.FORMAT_ERROR),
    # the line
    (None, "certificate verify failed: self-signed certificate", R.CERTIFICATE),
    (None, "certificate has expired", R.CERTIFICATE),
    (200, "strange", R.UNKNOWN),
]  # fmt: skip


@pytest.mark.parametrize(("status", "words", "reason"), ROWS)
def test_a_providers_words_have_a_reason(status, words, reason):
    error = ModelError(kind=ErrorKind.STATUS, message=words, status=status)

    assert classify(error).reason is reason


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (ErrorKind.TIMEOUT, R.TIMEOUT),
        (ErrorKind.CONNECTION, R.CONNECTION),
        (ErrorKind.CUT_STREAM, R.CUT_STREAM),
        (ErrorKind.GARBAGE, R.BROKEN_RESPONSE),
        (ErrorKind.NO_PROVIDER, R.NO_PROVIDER),
    ],
)
def test_without_a_status_the_transport_tells(kind, reason):
    assert classify(ModelError(kind=kind, message="oops")).reason is reason


def test_the_code_counts_as_words():
    error = ModelError(
        kind=ErrorKind.STATUS, message="no", status=400, code="context_length_exceeded"
    )

    assert classify(error).should_compact


@pytest.mark.parametrize(
    ("words", "window"),
    [
        ("This model's maximum context length is 8192 tokens", 8_192),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
        ("maximum context length of 131,072 tokens", 131_072),
        ("max_model_len (32768) exceeded by the prompt", 32_768),
        ("上下文长度 超过最大长度 65536", 65_536),
        ("prompt is too long", None),
    ],
)
def test_the_window_that_a_provider_states_is_read(words, window):
    error = ModelError(kind=ErrorKind.STATUS, message=words, status=400)

    assert classify(error).stated_window == window


@pytest.mark.parametrize(
    ("words", "output"),
    [
        ("max_tokens is too large: 100000. This model supports at most 16384", 16_384),
        ("max_new_tokens must be <= 4096", 4_096),
        ("max_tokens is too large", None),
    ],
)
def test_the_answers_limit_that_a_provider_states_is_read(words, output):
    error = ModelError(kind=ErrorKind.STATUS, message=words, status=400)

    assert classify(error).stated_output == output


def test_every_reason_has_a_remedy():
    assert set(REMEDIES) == set(Reason)


def test_nothing_helps_against_the_unknown():
    """Article 003: anything else is unknown, and all its flags are false."""
    decision = classify(ModelError(kind=ErrorKind.STATUS, message="?", status=200))

    assert decision.reason is R.UNKNOWN
    assert not decision.retryable
    assert not decision.should_compact
    assert not decision.should_fallback


def test_an_output_cap_never_compacts():
    error = ModelError(
        kind=ErrorKind.STATUS, message="max_tokens is too large", status=400
    )

    assert not classify(error).should_compact
    assert classify(error).should_shrink_output


@given(
    st.sampled_from(list(ErrorKind)),
    st.text(max_size=200),
    st.one_of(st.none(), st.integers(0, 999)),
)
def test_whatever_comes_there_is_a_decision(kind, words, status):
    decision = classify(ModelError(kind=kind, message=words, status=status))

    assert decision.reason in Reason
