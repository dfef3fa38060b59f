"""The messages of sampling.proto, in a descriptor pool of their own.

The SDK registers messages of the same names in the default pool; whoever imports both into one process keeps both.
"""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "tinker_public"
_Field = descriptor_pb2.FieldDescriptorProto
_BYTES, _INT32, _UINT32, _ENUM, _MESSAGE = (
    _Field.TYPE_BYTES,
    _Field.TYPE_INT32,
    _Field.TYPE_UINT32,
    _Field.TYPE_ENUM,
    _Field.TYPE_MESSAGE,
)
_PLAIN, _REPEATED, _OPTIONAL = "", "repeated", "optional"
# The fields of each message are numbered from 1 on, in this order: (rule, type, name of that type, name).
_MESSAGES = {
    "SampleResponse": (
        (_REPEATED, _MESSAGE, "SampledSequence", "sequences"),
        (_OPTIONAL, _BYTES, "", "prompt_logprobs"),
        (_OPTIONAL, _MESSAGE, "TopkPromptLogprobs", "topk_prompt_logprobs"),
        (_PLAIN, _INT32, "", "prompt_cache_hit_tokens"),
    ),
    "SampledSequence": (
        (_PLAIN, _ENUM, "StopReason", "stop_reason"),
        (_PLAIN, _BYTES, "", "tokens"),
        (_OPTIONAL, _BYTES, "", "logprobs"),
    ),
    "TopkPromptLogprobs": (
        (_PLAIN, _BYTES, "", "token_ids"),
        (_PLAIN, _BYTES, "", "logprobs"),
        (_PLAIN, _UINT32, "", "k"),
        (_PLAIN, _UINT32, "", "prompt_length"),
    ),
}
STOP_REASON_STOP, STOP_REASON_LENGTH = 0, 1


def file_descriptor() -> Any:
    """sampling.proto as a FileDescriptorProto."""
    file = descriptor_pb2.FileDescriptorProto(name="sampling.proto", package=_PACKAGE, syntax="proto3")
    reasons = file.enum_type.add(name="StopReason")
    reasons.value.add(name="STOP_REASON_STOP", number=STOP_REASON_STOP)
    reasons.value.add(name="STOP_REASON_LENGTH", number=STOP_REASON_LENGTH)
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, (rule, type_, type_name, field_name) in enumerate(fields, start=1):
            field = message.field.add(name=field_name, number=number, type=type_, label=_Field.LABEL_OPTIONAL)
            if type_name:
                field.type_name = f".{_PACKAGE}.{type_name}"
            if rule == _REPEATED:
                field.label = _Field.LABEL_REPEATED
            if rule == _OPTIONAL:  # proto3 has presence by a oneof of one
                field.proto3_optional = True
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field_name}")
    return file


_pool = descriptor_pool.DescriptorPool()
_pool.Add(file_descriptor())


def _message(name: str) -> Any:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


SampleResponse = _message("SampleResponse")
SampledSequence = _message("SampledSequence")
TopkPromptLogprobs = _message("TopkPromptLogprobs")
