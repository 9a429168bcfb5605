import { z } from 'zod';

/** The content of a request to the model, parsed by its format only: the parser follows the explanations in the prompt, not the code. */
export type Piece =
  | { readonly kind: 'spoken'; readonly label: string; readonly lines: readonly string[] }
  | { readonly kind: 'own'; readonly text: string }
  | { readonly kind: 'call'; readonly tool: string; readonly input: unknown }
  | { readonly kind: 'result'; readonly tool: string; readonly text: string }
  /** Text at the margin without an author. */
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

/** All characters that some reader may treat as a line break. */
export const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/u;
const READ_ON = '<cmd>cat untitled.txt</cmd>';
/** Lines of the host, which cannot be confused with members' text: that follows a name, or is indented. */
const HOST_LINES = new Set(['(What was said before is not shown.)', '(Nobody has spoken since. It is your turn.)']);

/** A name at the margin, and the text after it. */
const SPOKEN = /^([^\s:][^:]*):(?: (.*))?$/u;

/** Parses a request in the format of Anthropic's API. @param self the model's own name */
export function readRequest(body: unknown, self: string): ReadRequest {
  const { system, messages, tools } = BODY.parse(body);
  const [first] = messages;
  if (first?.content === READ_ON || joined(textsOf(first?.content ?? '')) === READ_ON) {
    return readPrefill(system, messages.slice(1), self);
  }
  const names = new Map<string, string>();
  const pieces = messages.flatMap(({ role, content: said }) => {
    const blocks = typeof said === 'string' ? [] : said;
    const texts = joined(textsOf(said));
    const results = blocks.flatMap((block): Piece[] =>
      block.type === 'tool_result'
        ? [{ kind: 'result', tool: names.get(block.tool_use_id) ?? 'of no call', text: block.content }]
        : [],
    );
    const calls = blocks.flatMap((block): Piece[] => {
      if (block.type !== 'tool_use') return [];
      names.set(block.id, block.name);
      return [{ kind: 'call', tool: block.name, input: block.input }];
    });
    const words: readonly Piece[] = role === 'user' ? readLines(texts) : [{ kind: 'own', text: texts }];
    return [...results, ...(texts === '' ? [] : words), ...calls];
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
    const [, label, rest = ''] = SPOKEN.exec(line) ?? [];
    if (label !== undefined) {
      lines = [rest];
      pieces.push({ kind: 'spoken', label, lines });
    } else if (!HOST_LINES.has(line)) pieces.push({ kind: 'stray', text: line });
  }
  return pieces;
}

/** "Each message starts at the margin as `Name: text`." */
function readPrefill(
  system: string,
  messages: readonly { role: string; content: Content }[],
  self: string,
): ReadRequest {
  const textOf = (wanted: string) =>
    messages.filter(({ role }) => role === wanted).map(({ content: said }) => joined(textsOf(said)));
  const found: { piece: Piece; readonly lines: string[] }[] = [];
  for (const line of textOf('assistant').join('').split(LINE_END)) {
    const last = found.at(-1);
    const isIndented = line === '' || line.startsWith('  ');
    const opened = isIndented ? undefined : openedBy(line, self);
    if (opened !== undefined) found.push(opened);
    else if (last?.piece.kind === 'own' || (isIndented && last !== undefined))
      last.lines.push(line.replace(/^ {2}/u, ''));
    else if (line !== '') found.push({ piece: { kind: 'stray', text: line }, lines: [] });
  }
  const pieces = found.flatMap(({ piece, lines }) => filled(piece, lines));
  const lists = textOf('user').map(readTools);
  return {
    mode: 'prefill',
    system,
    tools: lists.flatMap(({ tools }) => tools),
    pieces: [...pieces, ...lists.flatMap(({ strays }) => strays)],
  };
}

/** The piece that a line at the margin begins; `undefined` for a line without a name. */
function openedBy(line: string, self: string): { readonly piece: Piece; readonly lines: string[] } | undefined {
  const [, call, input = ''] = opens(line, `${self}>[`) ?? [];
  if (call !== undefined) return { piece: { kind: 'call', tool: call, input: jsonOf(input) }, lines: [] };
  const [, result, told = ''] = opens(line, `${self}<[`) ?? [];
  if (result !== undefined) return { piece: { kind: 'result', tool: result, text: '' }, lines: [told] };
  const [, label, rest = ''] = SPOKEN.exec(line) ?? [];
  if (label === undefined) return undefined;
  return { piece: label === self ? { kind: 'own', text: '' } : { kind: 'spoken', label, lines: [] }, lines: [rest] };
}

/** The piece with its lines. The model's name without a text marks the place for its answer. */
function filled(piece: Piece, lines: readonly string[]): readonly Piece[] {
  const text = lines.join('\n').trim();
  if (piece.kind === 'own' && text === '') return [];
  if (piece.kind === 'spoken') return [{ ...piece, lines }];
  return [piece.kind === 'own' || piece.kind === 'result' ? { ...piece, text } : piece];
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

/** The list of tools: one per line, between two tags. Any other line is a stray piece. */
function readTools(text: string): { readonly tools: readonly string[]; readonly strays: readonly Piece[] } {
  const lines = text.split(LINE_END);
  const listed = lines.slice(1, -1).map((line) => ({ line, name: /^- ([\w-]+): /u.exec(line)?.[1] }));
  const wrong = listed.filter(({ line, name }) => name === undefined || /<\/?tools>/iu.test(line));
  const isList = lines[0] === '<tools>' && lines.at(-1) === '</tools>';
  return {
    tools: listed.flatMap(({ name }) => name ?? []),
    strays: [...(isList ? [] : [text]), ...wrong.map(({ line }) => line)].map(
      (stray): Piece => ({ kind: 'stray', text: stray }),
    ),
  };
}
