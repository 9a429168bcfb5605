import { z } from 'zod';
import type { Rejection } from '../wire.js';
import { type Block, MESSAGES_BODY, type MessagesBody } from './body.js';

const MAX_CACHE_BREAKPOINTS = 4;

/** Refuses what the Messages API refuses, so that a test cannot pass with a request that would be a 400. */
export function rejectMessages(raw: unknown): Rejection | undefined {
  const parsed = MESSAGES_BODY.safeParse(raw);
  if (!parsed.success) return { status: 400, message: z.prettifyError(parsed.error) };
  const message =
    wrongRoles(parsed.data) ??
    wrongText(parsed.data) ??
    wrongToolUse(parsed.data) ??
    wrongTools(parsed.data) ??
    tooManyBreakpoints(parsed.data);
  return message === undefined ? undefined : { status: 400, message };
}

function wrongRoles({ messages }: MessagesBody): string | undefined {
  for (const [index, { role }] of messages.entries()) {
    if (role !== (index % 2 === 0 ? 'user' : 'assistant')) {
      return `messages.${index}: roles must alternate between "user" and "assistant", starting with "user"`;
    }
  }
  return messages.at(-1)?.role === 'assistant'
    ? 'This model does not support assistant message prefill. The conversation must end with a user message.'
    : undefined;
}

function wrongText({ messages }: MessagesBody): string | undefined {
  for (const [index, { content }] of messages.entries()) {
    if (content.length === 0) return `messages.${index}: all messages must have non-empty content`;
    if (content.some((block) => block.type === 'text' && block.text.trim() === '')) {
      return `messages.${index}: text content blocks must contain non-whitespace text`;
    }
  }
  return undefined;
}

function wrongToolUse({ messages }: MessagesBody): string | undefined {
  const seen = new Set<string>();
  let open: readonly string[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    const wrong = wrongResults(content, open, index);
    if (wrong !== undefined) return wrong;
    const uses = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    if (role === 'user' && uses.length > 0)
      return `messages.${index}: \`tool_use\` blocks can only be in assistant messages`;
    for (const id of uses) {
      if (seen.has(id)) return `messages.${index}: \`tool_use\` ids must be unique`;
      seen.add(id);
    }
    open = uses;
  }
  return undefined;
}

/** A message's results against the calls of the message before it. */
function wrongResults(content: readonly Block[], open: readonly string[], index: number): string | undefined {
  const results = content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
  const stranger = results.find((id) => !open.includes(id));
  if (stranger !== undefined) {
    return `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stranger}`;
  }
  const missing = open.find((id) => !results.includes(id));
  if (missing !== undefined) {
    return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing}`;
  }
  if (new Set(results).size < results.length) return `messages.${index}: each tool_use must have a single result`;
  const firstOther = content.findIndex((block) => block.type !== 'tool_result');
  if (firstOther >= 0 && content.slice(firstOther).some((block) => block.type === 'tool_result')) {
    return `messages.${index}: \`tool_result\` blocks must come first in the content`;
  }
  return undefined;
}

function wrongTools({ messages, tools = [], tool_choice }: MessagesBody): string | undefined {
  if (new Set(tools.map((tool) => tool.name)).size < tools.length) return 'tools: Tool names must be unique.';
  if (tool_choice !== undefined && tools.length === 0)
    return 'tool_choice may only be specified while providing tools.';
  if (tool_choice?.type === 'tool' && !tools.some((tool) => tool.name === tool_choice.name)) {
    return `tool_choice: there is no tool "${tool_choice.name}"`;
  }
  const usesTools = messages.some(({ content }) => content.some((block) => block.type.startsWith('tool_')));
  return usesTools && tools.length === 0
    ? 'Requests which include `tool_use` or `tool_result` blocks must define tools.'
    : undefined;
}

function tooManyBreakpoints({ messages, system, tools = [] }: MessagesBody): string | undefined {
  const blocks = [
    ...messages.flatMap(({ content }) => content),
    ...(typeof system === 'object' ? system : []),
    ...tools,
  ];
  const count = blocks.filter((block) => (block.cache_control ?? null) !== null).length;
  return count > MAX_CACHE_BREAKPOINTS
    ? `A maximum of ${MAX_CACHE_BREAKPOINTS} blocks with cache_control may be provided. Found ${count}.`
    : undefined;
}
