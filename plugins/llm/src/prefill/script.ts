import type { CacheControl, ContentBlock, LlmRequest, ParticipantMessage, ToolResultContent } from '@cinnabar/sdk';
import { callableName } from '../transcript/call-ids.js';
import { goOn } from '../transcript/speech.js';
import type { Part } from '../transcript/turns.js';
import { type GrowingPart, type ImageRule, showable } from '../transcript/user-parts.js';
import { castOf } from './cast.js';
import { callLine, heardLine, ownLine, resultLabel } from './margin.js';
import { prefillSystem, toolList } from './notes.js';

/** A conversation as one text that the model goes on with. */
export interface Script {
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
      // A result in a member's name is nobody's: only the model calls tools.
      const part = showable(block, imageRule);
      if (part === undefined) continue;
      if (part.type === 'image') {
        if (!speaking) pages.write(`${label}:`);
        pages.show(part);
      } else if (speaking) pages.goOn(goOn(part.text));
      else pages.write(heardLine(label, part.text).trimEnd());
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
    pages.write(heardLine(resultLabel(self, name), isError === true ? `(failed) ${words}` : words));
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
