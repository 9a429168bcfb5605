import { z } from 'zod';
import type { Rejection, Rules } from '../wire.js';
import { type Block, MESSAGES_BODY, type MessagesBody } from './body.js';

const MAX_CACHE_BREAKPOINTS = 4;

/** Refuses what the Messages API refuses, so that a test cannot pass with a request that would be a 400. */
export function rejectMessages(raw: unknown, { prefill, forcedTools }: Rules): Rejection | undefined {
  const parsed = MESSAGES_BODY.safeParse(raw);
  if (!parsed.success) return { status: 400, message: z.prettifyError(parsed.error) };
  const message =
    wrongContent(parsed.data) ??
    wrongRoles(parsed.data, prefill) ??
    wrongText(parsed.data) ??
    wrongToolUse(merged(parsed.data)) ??
    wrongTools(parsed.data, forcedTools) ??
    wrongBreakpoints(parsed.data);
  return message === undefined ? undefined : { status: 400, message };
}

/** The API takes messages of one role in a row for one. */
function merged(body: MessagesBody): MessagesBody {
  const messages: { role: 'user' | 'assistant'; content: readonly Block[] }[] = [];
  for (const { role, content } of body.messages) {
    const last = messages.at(-1);
    if (last?.role === role) last.content = [...last.content, ...content];
    else messages.push({ role, content });
  }
  return { ...body, messages };
}

function wrongContent({ messages }: MessagesBody): string | undefined {
  const index = messages.findIndex(
    ({ role, content }) => role === 'assistant' && content.some(({ type }) => type === 'image'),
  );
  return index < 0 ? undefined : `messages.${index}: 'image' blocks are not permitted within assistant turns`;
}

function wrongRoles({ messages }: MessagesBody, prefill: boolean): string | undefined {
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return undefined;
  if (!prefill)
    return 'This model does not support assistant message prefill. The conversation must end with a user message.';
  const end = last.content.at(-1);
  return end?.type === 'text' && /\s$/.test(end.text)
    ? 'messages: final assistant content cannot end with trailing whitespace'
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

function wrongTools({ messages, tools = [], tool_choice }: MessagesBody, forcedTools: boolean): string | undefined {
  if (!forcedTools && (tool_choice?.type === 'tool' || tool_choice?.type === 'any')) {
    return 'tool_choice: forcing tool use is not supported by this model';
  }
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

function wrongBreakpoints({ messages, system, tools = [] }: MessagesBody): string | undefined {
  const inOrder = [
    ...tools,
    ...(typeof system === 'object' ? system : []),
    ...messages.flatMap(({ content }) => content),
  ];
  const marks = inOrder.flatMap(({ cache_control: mark }) => (mark === undefined || mark === null ? [] : [mark]));
  if (marks.length > MAX_CACHE_BREAKPOINTS) {
    return `A maximum of ${MAX_CACHE_BREAKPOINTS} blocks with cache_control may be provided. Found ${marks.length}.`;
  }
  const firstShort = marks.findIndex(({ ttl }) => ttl !== '1h');
  return firstShort >= 0 && marks.slice(firstShort).some(({ ttl }) => ttl === '1h')
    ? "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."
    : undefined;
}
