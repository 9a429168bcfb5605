import { z } from 'zod';
import type { Rejection } from '../wire.js';
import { CHAT_BODY, type ChatBody } from './chat-body.js';
import { wrongStrictSchema } from './shared.js';

/** Refuses what the Chat Completions API refuses. */
export function rejectChat(raw: unknown): Rejection | undefined {
  const parsed = CHAT_BODY.safeParse(raw);
  if (!parsed.success) return { status: 400, message: z.prettifyError(parsed.error), param: 'messages' };
  const message = wrongToolMessages(parsed.data) ?? wrongContent(parsed.data) ?? wrongOptions(parsed.data);
  return message === undefined ? undefined : { status: 400, message };
}

function wrongToolMessages({ messages }: ChatBody): string | undefined {
  let open: string[] = [];
  const unanswered = () =>
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': ${open.join(', ')}`;
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id)) {
        return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
      }
      open = open.filter((id) => id !== message.tool_call_id);
    } else {
      if (open.length > 0) return unanswered();
      open = message.role === 'assistant' ? (message.tool_calls ?? []).map((call) => call.id) : [];
    }
  }
  return open.length > 0 ? unanswered() : undefined;
}

function wrongContent({ messages }: ChatBody): string | undefined {
  const index = messages.findIndex(
    (message) => message.role === 'assistant' && (message.content ?? null) === null && message.tool_calls === undefined,
  );
  return index < 0 ? undefined : `Invalid value for 'content': expected a string, got null. (messages.${index})`;
}

function wrongOptions({ stream, stream_options, response_format, max_tokens, max_completion_tokens }: ChatBody) {
  if (stream !== true && stream_options !== undefined)
    return "'stream_options' is only allowed when 'stream' is enabled.";
  if (max_tokens !== undefined && max_completion_tokens !== undefined) {
    return 'Setting max_tokens and max_completion_tokens at the same time is not supported.';
  }
  if (response_format?.json_schema.strict !== true) return undefined;
  return wrongStrictSchema(response_format.json_schema.schema);
}
