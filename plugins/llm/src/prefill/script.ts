import type {
  CacheControl,
  ContentBlock,
  LlmRequest,
  ModelTool,
  ParticipantMessage,
  ToolResultContent,
} from '@cinnabar/sdk';
import { withoutDialect } from '../providers/json.js';
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

/** A conversation as one text that the model goes on with. */
interface Script {
  readonly system: string;
  /** The list of tools; `undefined` when there are none. */
  readonly tools: string | undefined;
  /** What is put into the model's mouth, in messages that end where an image does. The last text ends with the model's name, or with its own words where it goes on with them. */
  readonly messages: readonly (readonly Part[])[];
}

const NO_RESULT = 'no result recorded';
const GAP = '\n\n';

/**
 * Prefill mode: `Alice: Hello`, a blank line, `Bob: Hi`, and so on to `Claude:`. Calls and results are lines
 * of the same text. An image ends a message of the prompt, and the text after it begins the next one.
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
  // The model goes on where its own last words end: there may be no space behind them.
  if (request.goesOn !== true) pages.write(`${self}:`);
  return { system: prefillSystem(request, self), tools: toolList(request.tools ?? []), messages: pages.pages };

  function writeHeard(label: string, { content }: ParticipantMessage): void {
    let speaking = false;
    for (const block of content) {
      // A result in a member's name answers no call: only the model calls tools.
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
  /** A message begins. */
  begin(): void;
  /** A paragraph of its own. */
  write(paragraph: string): void;
  /** Further lines of the same paragraph. */
  goOn(lines: string): void;
  show(image: Extract<Part, { type: 'image' }>): void;
  /** Ends a cached prefix at the end of the message's words: the mark stands before its images, which belong to the same message. */
  mark(cache: CacheControl | undefined): void;
}

/** @param apart whether each paragraph is a part of its own, so that parts stay the same wherever the marks are */
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
  /** By participant; the model itself is not among them. */
  readonly labels: ReadonlyMap<string, string>;
}

export function castOf({ messages, self }: Pick<LlmRequest, 'messages' | 'self'>): Cast {
  const others = messages.map(({ participant }) => participant).filter((participant) => participant !== self);
  return { self: cleanName(self), labels: labelParticipants(others, self) };
}

/** The line that asks a model to go on with a text. */
export const READ_ON = '<cmd>cat untitled.txt</cmd>';

/** The list of tools, one a line. Descriptions come from anywhere: they stay on their line and inside the list. */
function toolList(tools: readonly ModelTool[]): string | undefined {
  if (tools.length === 0) return undefined;
  const lines = tools.map(({ name, description }) => `- ${callableName(name)}: ${bounded(oneLine(description))}`);
  return ['<tools>', ...lines, '</tools>'].join('\n');
}

/** The system prompt, and how the text is to be read and written. */
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
    // Indented: a name and a colon at the margin would read as a speaker.
    ...tools.map(({ name, inputSchema }) => `  ${callableName(name)}: ${spacelessJson(withoutDialect(inputSchema))}`),
  ].join('\n');
}

/** JSON on one line, whatever a schema's own texts say. */
function spacelessJson(schema: ModelTool['inputSchema']): string {
  return JSON.stringify(schema).replace(/[\u0085\u2028\u2029]/g, ' ');
}

/** Of what a tool says of itself. */
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

/** Line ends that JSON leaves as they are. */
const UNESCAPED_LINE_END = /[\u0085\u2028\u2029]/g;

/** What reads as a speaker, a call or a result when it stands at the margin. */
const LOOKS_LIKE_A_SPEAKER = /^\S[^:：︓﹕]*[:：︓﹕]/u;

/** The model's own words. Its lines stay at the margin, as it wrote them, unless one would read as another speaker's. */
function ownLine(label: string, text: string): string {
  const [first = '', ...more] = text.trim().split(LINE_END);
  const lines = more.map((line) => (LOOKS_LIKE_A_SPEAKER.test(line) ? `  ${line}` : line.trimEnd()));
  return [`${label}: ${first.trimEnd()}`, ...lines].join('\n');
}

/** `Claude>[get_time]: {"timezone": "Asia/Tokyo"}` */
function callLine(label: string, tool: string, input: Readonly<Record<string, unknown>>): string {
  return `${label}>[${tool}]: ${spacedJson(input)}`;
}

/** `Claude<[get_time]: 14:30 JST`, up to the colon. */
function resultLabel(label: string, tool: string): string {
  return `${label}<[${tool}]`;
}

/** JSON on one line with a space behind commas and colons. */
function spacedJson(value: unknown): string {
  // Every line feed in this is the formatter's: those within strings are escaped.
  return JSON.stringify(value, null, 1)
    .replace(/([[{])\n\s*/g, '$1')
    .replace(/\n\s*([\]}])/g, '$1')
    .replace(/\n\s*/g, ' ')
    .replace(UNESCAPED_LINE_END, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Where the model has to stop: where another speaker's line would begin, or a result. `Alice:` is looked for at the start
 * of a line only, so that a sentence may say it; sequences of that form that the caller gives mean the same.
 * @param atMost what the provider takes; the latest speakers are the likeliest
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

/** The caller's own, beside the names of speakers. */
export function givenStops(request: LlmRequest): readonly string[] {
  const { self, labels } = castOf(request);
  const names = new Set([...labels.keys(), ...labels.values(), request.self, self].map((name) => `${name}:`));
  return (request.stopSequences ?? []).filter((stop) => stop.trim() !== '' && !names.has(stop.trim()));
}
