import { z } from 'zod';

/** What a request to the model holds, told apart by its form alone: written from the notes that the model itself is given, not from the code. */
export type Piece =
  | { readonly kind: 'spoken'; readonly label: string; readonly lines: readonly string[] }
  | { readonly kind: 'own'; readonly text: string }
  | { readonly kind: 'call'; readonly tool: string; readonly input: unknown }
  | { readonly kind: 'result'; readonly tool: string; readonly text: string }
  /** What stands at the margin and belongs to nobody. */
  | { readonly kind: 'stray'; readonly text: string };

export interface ReadRequest {
  readonly mode: 'chat' | 'prefill';
  readonly system: string;
  readonly tools: readonly string[];
  readonly pieces: readonly Piece[];
}

const textBlock = z.object({ type: z.literal('text'), text: z.string() });
const toolUse = z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() });
const content = z.union([z.string(), z.array(textBlock)]).transform(joined);
const toolResult = z.object({ type: z.literal('tool_result'), tool_use_id: z.string(), content });
const BODY = z.object({
  system: z.union([z.string(), z.array(textBlock)]).transform(joined),
  messages: z.array(
    z.object({
      role: z.enum(['user', 'assistant']),
      content: z.union([z.string(), z.array(z.union([textBlock, toolUse, toolResult]))]),
    }),
  ),
  tools: z.array(z.object({ name: z.string() })).default([]),
});

function joined(blocks: string | readonly { readonly text: string }[]): string {
  return typeof blocks === 'string' ? blocks : blocks.map(({ text }) => text).join('');
}

/** Wherever a reader, of whatever kind, may see a new line begin. */
export const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/u;
const READ_ON = '<cmd>cat untitled.txt</cmd>';
/** Lines of the host's own, which no member's text can be: that has a name before it, or is indented. */
const HOST_LINES = new Set([
  '(What was said before is not shown.)',
  '(Nobody has spoken since. It is your turn.)',
]);

/** Reads a request in the form of Anthropic's API. @param self the name by which the model knows itself */
export function readRequest(body: unknown, self: string): ReadRequest {
  const { system, messages, tools } = BODY.parse(body);
  const [first] = messages;
  if (first?.content === READ_ON || joined(textsOf(first?.content ?? '')) === READ_ON) {
    return readPrefill(system, messages.slice(1), self);
  }
  const names = new Map<string, string>();
  const pieces = messages.flatMap(({ role, content: said }): Piece[] => {
    const found: Piece[] = [];
    const texts = joined(textsOf(said));
    for (const block of typeof said === 'string' ? [] : said) {
      if (block.type !== 'tool_result') continue;
      found.push({ kind: 'result', tool: names.get(block.tool_use_id) ?? 'of no call', text: block.content });
    }
    if (role === 'assistant' && texts !== '') found.push({ kind: 'own', text: texts });
    if (role === 'user' && texts !== '') found.push(...readLines(texts));
    for (const block of typeof said === 'string' ? [] : said) {
      if (block.type !== 'tool_use') continue;
      names.set(block.id, block.name);
      found.push({ kind: 'call', tool: block.name, input: block.input });
    }
    return found;
  });
  return { mode: 'chat', system, tools: tools.map(({ name }) => name), pieces };
}

type Content = z.output<typeof BODY>['messages'][number]['content'];

function textsOf(said: Content): readonly { readonly text: string }[] {
  if (typeof said === 'string') return [{ text: said }];
  return said.flatMap((block) => (block.type === 'text' ? [block] : []));
}

/** "Only a name at the very start of a line says who speaks. Indented lines go on with the message above them." */
function readLines(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let lines: string[] | undefined;
  for (const line of text.split(LINE_END)) {
    if (line === '' || line.startsWith('  ')) {
      if (lines !== undefined) lines.push(line.slice(2));
      else if (line !== '') pieces.push({ kind: 'stray', text: line });
      continue;
    }
    const [, label, rest = ''] = /^([^\s:][^:]*):(?: (.*))?$/u.exec(line) ?? [];
    if (label !== undefined) {
      lines = [rest];
      pieces.push({ kind: 'spoken', label, lines });
    } else if (!HOST_LINES.has(line)) pieces.push({ kind: 'stray', text: line });
  }
  return pieces;
}

/** "Each message starts at the margin as `Name: text`." */
function readPrefill(system: string, messages: readonly { role: string; content: Content }[], self: string): ReadRequest {
  const listed = messages.filter(({ role }) => role === 'user').map(({ content: said }) => joined(textsOf(said)));
  const script = messages.filter(({ role }) => role === 'assistant').map(({ content: said }) => joined(textsOf(said)));
  const pieces: Piece[] = [];
  let lines: string[] | undefined;
  let own: string[] | undefined;
  const close = () => {
    if (own !== undefined && own.join('').trim() !== '') pieces.push({ kind: 'own', text: own.join('\n').trim() });
    own = undefined;
    lines = undefined;
  };
  const results: { tool: string; lines: string[] }[] = [];
  for (const line of script.join('').split(LINE_END)) {
    if (line === '' || line.startsWith('  ')) {
      (lines ?? own)?.push(line === '' ? '' : line.slice(2));
      if (lines === undefined && own === undefined && line !== '') pieces.push({ kind: 'stray', text: line });
      continue;
    }
    const [, call, input = ''] = opens(line, `${self}>[`) ?? [];
    const [, result, told = ''] = opens(line, `${self}<[`) ?? [];
    const [, label, rest = ''] = /^([^\s:][^:]*):(?: (.*))?$/u.exec(line) ?? [];
    if (call !== undefined) {
      close();
      pieces.push({ kind: 'call', tool: call, input: jsonOf(input) });
    } else if (result !== undefined) {
      close();
      const piece = { tool: result, lines: [told] };
      results.push(piece);
      lines = piece.lines;
      pieces.push({ kind: 'result', tool: result, get text() { return piece.lines.join('\n'); } });
    } else if (label === self) {
      close();
      own = [rest];
    } else if (label !== undefined) {
      close();
      lines = [rest];
      pieces.push({ kind: 'spoken', label, lines });
    } else if (own !== undefined) own.push(line);
    else pieces.push({ kind: 'stray', text: line });
  }
  close();
  return { mode: 'prefill', system, tools: listed.flatMap((text) => toolsIn(text, pieces)), pieces };
}

function opens(line: string, opening: string): readonly [string, string, string] | undefined {
  if (!line.startsWith(opening)) return undefined;
  const [, tool, rest] = /^([\w-]+)\]:(?: (.*))?$/u.exec(line.slice(opening.length)) ?? [];
  return tool === undefined ? undefined : [line, tool, rest ?? ''];
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return `not JSON: ${text}`;
  }
}

/** The list of tools: a line each, between two tags. What is no such line is a stray piece. */
function toolsIn(text: string, pieces: Piece[]): readonly string[] {
  const lines = text.split(LINE_END);
  if (lines[0] !== '<tools>' || lines.at(-1) !== '</tools>') pieces.push({ kind: 'stray', text });
  return lines.slice(1, -1).flatMap((line) => {
    const name = /^- ([\w-]+): /u.exec(line)?.[1];
    if (name === undefined || /<\/?tools>/iu.test(line)) pieces.push({ kind: 'stray', text: line });
    return name ?? [];
  });
}
