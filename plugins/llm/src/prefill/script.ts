import type {
  CacheControl,
  ContentBlock,
  LlmCompletion,
  LlmRequest,
  MalformedToolUseContent,
  ModelTool,
  ParticipantMessage,
  ToolResultContent,
  ToolUseContent,
} from '@cinnabar/sdk';
import { readToolCall, withoutDialect } from '../providers/json.js';
import { callableName } from '../transcript/transcript.js';
import {
  cleanName,
  type GrowingPart,
  goOn,
  type ImageRule,
  labelParticipants,
  type Part,
  showable,
  speak,
} from '../transcript/turns.js';

/** A conversation as one text that the model continues. */
interface Script {
  readonly system: string;
  /** The list of tools; `undefined` when there are none. */
  readonly tools: string | undefined;
  /**
   * The text before the model's continuation, in messages that end at an image. The last text ends with the model's name, or with its own text when it
   * continues that.
   */
  readonly messages: readonly (readonly Part[])[];
}

const NO_RESULT = 'no result recorded';
const GAP = '\n\n';

/**
 * Converts a conversation for prefill mode: `Alice: Hello`, a blank line, `Bob: Hi`, and so on up to `Claude:`. Calls and results are lines of the same text.
 * An image ends a message of the prompt, and the text after it begins the next one.
 */
export function toScript(request: LlmRequest, imageRule: ImageRule): Script {
  const { self, labels } = castOf(request);
  const marks = request.messages.filter(({ cacheControl }) => cacheControl !== undefined).length;
  const pages = createPages(marks > 1);
  const tools = new Map<string, string>();
  const answered = new Set(
    request.messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === 'tool_result' ? [block.toolUseId] : [])),
    ),
  );
  for (const message of request.messages) {
    const label = labels.get(message.participant);
    pages.begin();
    if (label === undefined) writeOwn(message);
    else writeHeard(label, message);
    pages.mark(message.cacheControl);
  }
  // When the model continues its own last text, no space may follow that text.
  if (request.goesOn !== true) pages.write(`${self}:`);
  return { system: prefillSystem(request, self), tools: toolList(request.tools ?? []), messages: pages.pages };

  function writeHeard(label: string, { content }: ParticipantMessage): void {
    let speaking = false;
    for (const block of content) {
      // A tool result under a member's name is not shown as the answer to a call: only the model calls tools.
      const part = showable(block, imageRule);
      if (part === undefined) continue;
      if (part.type === 'image') {
        if (!speaking) pages.write(`${label}:`);
        pages.show(part);
      } else if (speaking) pages.goOn(goOn(part.text));
      else pages.write(speak(label, part.text).trimEnd());
      speaking = true;
    }
  }

  function writeOwn({ content }: ParticipantMessage): void {
    for (const block of content) {
      if (block.type === 'text' && block.text.trim() !== '') pages.write(ownLine(self, block.text));
      else if (block.type === 'tool_use') {
        const name = callableName(block.name);
        tools.set(block.id, name);
        pages.write(callLine(self, name, block.input));
        if (!answered.has(block.id)) pages.write(`${resultLabel(self, name)}: ${NO_RESULT}`);
      } else if (block.type === 'tool_result') writeResult(block);
    }
  }

  function writeResult({ toolUseId, content, isError }: ToolResultContent): void {
    const name = tools.get(toolUseId);
    if (name === undefined) return;
    const blocks: readonly ContentBlock[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const parts = blocks.map((block) => showable(block, imageRule)).filter((part) => part !== undefined);
    const words = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') || '(empty)';
    pages.write(speak(resultLabel(self, name), isError === true ? `(failed) ${words}` : words));
    for (const part of parts) if (part.type === 'image') pages.show(part);
  }
}

interface Pages {
  readonly pages: readonly (readonly Part[])[];
  /** Begins a message. */
  begin(): void;
  /** Writes a separate paragraph. */
  write(paragraph: string): void;
  /** Adds lines to the last paragraph. */
  goOn(lines: string): void;
  show(image: Extract<Part, { type: 'image' }>): void;
  /** Ends a cached prefix at the end of the message's text: the mark is placed before its images, which belong to the same message. */
  mark(cache: CacheControl | undefined): void;
}

/** @param apart whether each paragraph is a separate part, so that parts stay the same wherever the marks are */
function createPages(apart: boolean): Pages {
  const pages: GrowingPart[][] = [];
  let words: Extract<GrowingPart, { type: 'text' }> | undefined;

  const add = (text: string, gap: string) => {
    const page = pages.at(-1);
    const last = page?.at(-1);
    if (page === undefined || last === undefined || last.type === 'image') {
      words = { type: 'text', text };
      pages.push([words]);
    } else if (last.cache === undefined && !(apart && gap === GAP)) {
      last.text += gap + text;
      words = last;
    } else {
      words = { type: 'text', text: gap + text };
      page.push(words);
    }
  };
  return {
    pages,
    begin() {
      words = undefined;
    },
    write: (paragraph) => add(paragraph, GAP),
    goOn: (lines) => add(lines, '\n'),
    show(image) {
      pages.at(-1)?.push({ ...image });
    },
    mark(cache) {
      if (cache === undefined) return;
      const target = words ?? pages.at(-1)?.findLast((part) => part.type === 'text');
      if (target !== undefined) target.cache = cache;
    },
  };
}

/** The participants of the script and their names: one line, without a colon, all different. */
interface Cast {
  readonly self: string;
  /** Labels by participant, without the model itself. */
  readonly labels: ReadonlyMap<string, string>;
}

export function castOf({ messages, self }: Pick<LlmRequest, 'messages' | 'self'>): Cast {
  const others = messages.map(({ participant }) => participant).filter((participant) => participant !== self);
  return { self: cleanName(self), labels: labelParticipants(others, self) };
}

/** The line that asks a model to continue a text. */
export const READ_ON = '<cmd>cat untitled.txt</cmd>';

/** The list of tools, one on each line. Descriptions are untrusted: they stay on their line and inside the list. */
function toolList(tools: readonly ModelTool[]): string | undefined {
  if (tools.length === 0) return undefined;
  const lines = tools.map(({ name, description }) => `- ${callableName(name)}: ${bounded(oneLine(description))}`);
  return ['<tools>', ...lines, '</tools>'].join('\n');
}

/** The system prompt, and instructions for reading and writing the text. */
function prefillSystem({ system = '', tools = [] }: LlmRequest, self: string): string {
  const form = [
    'The conversation is a text in which each message starts at the margin as `Name: text`.',
    'Indented lines go on with the message above them, whatever they look like.',
    `Write what ${JSON.stringify(self)} says next, and stop before anybody else speaks.`,
  ].join(' ');
  return [system, form, ...(tools.length === 0 ? [] : [toolNote(tools, self)])]
    .filter((text) => text.trim() !== '')
    .join('\n\n');
}

function toolNote(tools: readonly ModelTool[], self: string): string {
  return [
    `To use a tool, write \`${self}>[name]: {"argument": "value"}\` on a line of its own and stop.`,
    `Its result follows as \`${self}<[name]: result\`; never write that yourself. The arguments, as JSON Schema:`,
    // Indented, since a name and a colon at the margin would look like a speaker.
    ...tools.map(({ name, inputSchema }) => `  ${callableName(name)}: ${spacelessJson(withoutDialect(inputSchema))}`),
  ].join('\n');
}

/** JSON on one line, with any text inside the schema. */
function spacelessJson(schema: ModelTool['inputSchema']): string {
  return JSON.stringify(schema).replace(/[\u0085\u2028\u2029]/g, ' ');
}

/** Maximum length of a tool's description. */
const LONGEST_DESCRIPTION = 1_000;

const bounded = (text: string) =>
  text.length <= LONGEST_DESCRIPTION ? text : `${text.slice(0, LONGEST_DESCRIPTION)}…`;

function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replace(/<(?=\/?tools>)/gi, '< ')
    .trim();
}

const LINE_END = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

/** Line ends that JSON does not escape. */
const UNESCAPED_LINE_END = /[\u0085\u2028\u2029]/g;

/** Text at the margin that looks like a speaker, a call or a result. */
const LOOKS_LIKE_A_SPEAKER = /^\S[^:：︓﹕]*[:：︓﹕]/u;

/** The model's own text. Its lines stay at the margin, except lines that look like another speaker's. */
function ownLine(label: string, text: string): string {
  const [first = '', ...more] = text.trim().split(LINE_END);
  const lines = more.map((line) => (LOOKS_LIKE_A_SPEAKER.test(line) ? `  ${line}` : line.trimEnd()));
  return [`${label}: ${first.trimEnd()}`, ...lines].join('\n');
}

/** A call: `Claude>[get_time]: {"timezone": "Asia/Tokyo"}` */
function callLine(label: string, tool: string, input: Readonly<Record<string, unknown>>): string {
  return `${label}>[${tool}]: ${spacedJson(input)}`;
}

/** The beginning of a result, up to the colon: `Claude<[get_time]` of `Claude<[get_time]: 14:30 JST`. */
function resultLabel(label: string, tool: string): string {
  return `${label}<[${tool}]`;
}

/** JSON on one line with a space after commas and colons. */
function spacedJson(value: unknown): string {
  // Every line feed in this JSON comes from the formatter: those within strings are escaped.
  return JSON.stringify(value, null, 1)
    .replace(/([[{])\n\s*/g, '$1')
    .replace(/\n\s*([\]}])/g, '$1')
    .replace(/\n\s*/g, ' ')
    .replace(UNESCAPED_LINE_END, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * The stop sequences: the beginning of another speaker's line, or of a result. `Alice:` matches only at the start of a line, so that a sentence may contain it;
 * the caller's sequences of that form are treated the same.
 * @param atMost the provider's maximum; the latest speakers, who are the most probable ones, take precedence
 */
export function prefillStops(request: LlmRequest, atMost: number): readonly string[] {
  const { self, labels } = castOf(request);
  const given = givenStops(request);
  const latestFirst = [...new Set(request.messages.map(({ participant }) => participant).reverse())];
  const speakers = latestFirst.flatMap((participant) => labels.get(participant) ?? []);
  const results = (request.tools ?? []).length === 0 ? [] : [`\n${resultLabel(self, '')}`.replace(/\]$/, '')];
  const all = [...given, ...results, ...speakers.map((label) => `\n${label}:`), `\n${self}:`];
  return [...new Set(all)].slice(0, atMost);
}

/** The caller's stop sequences, in addition to the names of speakers. */
export function givenStops(request: LlmRequest): readonly string[] {
  const { self, labels } = castOf(request);
  const names = new Set([...labels.keys(), ...labels.values(), request.self, self].map((name) => `${name}:`));
  return (request.stopSequences ?? []).filter((stop) => stop.trim() !== '' && !names.has(stop.trim()));
}

/** The parts of the model's text. */
interface ReadAnswer {
  readonly text: string;
  readonly calls: readonly (ToolUseContent | MalformedToolUseContent)[];
  /** Whether the model continued as another speaker, or invented a result: that part is left out. */
  readonly cut: boolean;
}

export interface AnswerReader {
  /** @param raw the text after the model's name */
  read(raw: string, idFor: () => string): ReadAnswer;
  /** Whether an unfinished line could still become a speaker's, a call or a result. */
  isUndecided(line: string): boolean;
}

const FENCE = /^\s{0,3}(```|~~~)/;

/**
 * Parses answers to one request. A call is a line at the margin, outside code fences, in the model's own name; quoted text in sentences, fences or indented
 * lines does not count. After a call only further calls are read: other text was written without the result of the call.
 */
export function createAnswerReader(request: LlmRequest): AnswerReader {
  const { self, labels } = castOf(request);
  const withTools = (request.tools ?? []).length > 0;
  const call = `${self}>[`;
  const forgeries = [...[...labels.values(), self].map((label) => `${label}:`), `${self}<[`];
  const isForged = (line: string) => forgeries.some((opening) => line.startsWith(opening));
  const isCall = (line: string) => withTools && toolIn(line, call) !== undefined;

  /** The prompt ends with the model's name, so an answer may continue with the arrow of a call. */
  const toolAt = (line: string, at: number): WrittenTool | undefined => {
    if (!withTools) return undefined;
    return toolIn(line, call) ?? (at === 0 ? toolIn(line, '>[') : undefined);
  };

  return {
    isUndecided: (line) => [...forgeries, call].some((opening) => opening.startsWith(line) || line.startsWith(opening)),

    read(raw, idFor) {
      const { text, atMargin } = afterOwnName(raw, self);
      const end = endOfWords(
        text,
        (line, at) => toolAt(line, at) !== undefined || ((at > 0 || atMargin) && isForged(line)),
      );
      const calls: (ToolUseContent | MalformedToolUseContent)[] = [];
      let at = end;
      while (at < text.length) {
        const line = text.slice(at, endOfLine(text, at));
        const tool = toolAt(line, at);
        if (tool === undefined && line.trim() !== '') break;
        const written = tool && readArguments(text, at + tool.length, (next) => isForged(next) || isCall(next));
        if (tool !== undefined && written !== undefined) calls.push(readToolCall(idFor(), tool.name, written.input));
        // Text after the arguments on their line is ignored.
        at = endOfLine(text, written?.end ?? at) + 1;
      }
      return { text: text.slice(0, end).trimEnd(), calls, cut: isForged(text.slice(at)) };
    },
  };
}

/** The start of the first line that is not the model's text, outside code fences. */
function endOfWords(text: string, isOther: (line: string, at: number) => boolean): number {
  let fenced = false;
  for (let at = 0; at < text.length; at = endOfLine(text, at) + 1) {
    const line = text.slice(at, endOfLine(text, at));
    if (!fenced && isOther(line, at)) return at;
    if (FENCE.test(line)) fenced = !fenced;
  }
  return text.length;
}

/** The content for a completion: text, then calls. */
export function contentOf({ text, calls }: ReadAnswer): LlmCompletion['content'] {
  return [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...calls];
}

/** The name in `Claude>[name]:`, and the length of that part. */
interface WrittenTool {
  readonly name: string;
  readonly length: number;
}

function toolIn(line: string, opening: string): WrittenTool | undefined {
  if (!line.startsWith(opening)) return undefined;
  const close = line.indexOf(']', opening.length);
  const name = line.slice(opening.length, close).trim();
  if (close < 0 || !/^[\w.-]{1,64}$/.test(name)) return undefined;
  return { name, length: close + 1 + (line[close + 1] === ':' ? 1 : 0) };
}

/** Removes the model's name from the beginning: some models repeat it, or begin on a new line. */
function afterOwnName(raw: string, self: string): { readonly text: string; readonly atMargin: boolean } {
  const start = raw.trimStart();
  if (start.startsWith(`${self}:`)) return { text: start.slice(self.length + 1).trimStart(), atMargin: false };
  return { text: start, atMargin: /^[^\S\n]*\n/.test(raw) };
}

/**
 * The arguments of a written call: a JSON object over several lines, otherwise the rest of the line.
 * @param isAnother whether a line begins another speaker's text, a call or a result, so that an unclosed object ends before it
 */
function readArguments(
  text: string,
  start: number,
  isAnother: (line: string) => boolean,
): { readonly input: string; readonly end: number } {
  const brace = start + text.slice(start).search(/\S|$/);
  const end = text[brace] === '{' ? endOfObject(text, brace, isAnother) : endOfLine(text, start);
  return { input: text.slice(Math.min(brace, end), end).trim(), end };
}

/** The index after the brace that closes the object. */
function endOfObject(text: string, start: number, isAnother: (line: string) => boolean): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '\n' && isAnother(text.slice(at + 1, endOfLine(text, at + 1)))) return at;
    if (quoted) {
      if (character === '\\') at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return at + 1;
  }
  return text.length;
}

/** The end of the line that contains `from`: its line break, or the end of the text. */
function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}
