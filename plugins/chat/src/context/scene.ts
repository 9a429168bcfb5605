import { type TextFile, withoutNotes, withoutNoticeLines } from '@cinnabar/sdk';
import type { CachedImage, HistoryMessage } from '../history/types.js';
import { imagesOf, type Kind, kept, newest, type Shown, textFilesOf } from './reading/attachments.js';
import { nameSpeakers, peopleIn, selfName } from './reading/names.js';
import { type Entry, type Line, toEntries, toLines } from './reading/transcript.js';
import { isVisible } from './reading/visibility.js';
import type { ContextInput } from './types.js';

/** What there is to show, before a window is chosen. */
export interface Scene {
  readonly input: ContextInput;
  readonly selfName: string;
  readonly entries: readonly Entry[];
  readonly hidden: number;
  readonly imageKind: Kind<CachedImage>;
  readonly textFileKind: Kind<TextFile>;
}

/** A window of it, as the model would read it. */
export interface Draft {
  readonly entries: readonly Entry[];
  readonly lines: readonly Line[];
  readonly names: ReadonlyMap<string, string>;
  readonly images: Shown<CachedImage>;
  readonly textFiles: Shown<TextFile>;
}

export function setScene(input: ContextInput): Scene {
  const { window, records, question, config, traits, self } = input;
  const visible = window.messages.filter((message) => isVisible(message, question?.messageId));
  return {
    input,
    selfName: selfName(config.innerName, self.name),
    entries: toEntries(visible, new Set(records.map(({ afterMessageId }) => afterMessageId))),
    hidden: window.messages.length - visible.length,
    imageKind: imagesOf({ ...config, includeImages: config.includeImages && traits.images }, input.images),
    textFileKind: textFilesOf(config, input.textFiles),
  };
}

/** Goes on with what was shown before: the same names, images and text files; or says of what there is too much by now. */
export async function continueDraft(
  scene: Scene,
  from: number,
  isNew: (message: HistoryMessage) => boolean,
): Promise<Draft | { readonly tooMany: string }> {
  const { imageKind, textFileKind, input } = scene;
  const entries = scene.entries.slice(from);
  const messages = messagesOf(entries);
  const { memory } = input;
  const images = await kept(messages, new Set(memory.images), isNew, imageKind);
  const textFiles = await kept(messages, new Set(memory.textFiles), isNew, textFileKind);
  if (images === undefined) return { tooMany: imageKind.name };
  if (textFiles === undefined) return { tooMany: textFileKind.name };
  return draft(scene, entries, messages, memory.names, { images, textFiles });
}

/** Starts anew, with the newest images and text files. */
export async function freshDraft(scene: Scene, from: number): Promise<Draft> {
  const entries = scene.entries.slice(from);
  const messages = messagesOf(entries);
  const images = await newest(messages, scene.imageKind);
  const textFiles = await newest(messages, scene.textFileKind);
  return draft(scene, entries, messages, {}, { images, textFiles });
}

function draft(
  scene: Scene,
  entries: readonly Entry[],
  messages: readonly HistoryMessage[],
  known: Readonly<Record<string, string>>,
  attachments: Pick<Draft, 'images' | 'textFiles'>,
): Draft {
  const { input, selfName: name } = scene;
  const { mentions, question, goesOnFor, records } = input;
  const isSelf = (id: string) => id === input.self.id;
  const people = peopleIn(messages, (id) => mentions?.user(id)).filter(({ id }) => !isSelf(id));
  const speaker = question?.speaker ?? goesOnFor;
  const asking = speaker === undefined || isSelf(speaker.id) ? [] : [speaker];
  const names = nameSpeakers([...asking, ...people], name, known);
  const content = (message: HistoryMessage) => contentOf(message, input);
  const self = { id: input.self.id, name };
  const lines = toLines({ entries, records, ...attachments, self, names, mentions, content });
  return { entries, names, ...attachments, lines };
}

const WORDLESS = '[calls you without a word]';
const GO_ON =
  '[asks you to go on with your last message: continue it exactly where it stops, without repeating any of it and without a word about it]';

function contentOf({ content, author }: HistoryMessage, { withoutCommand }: ContextInput): string {
  if (author.bot) return author.self ? withoutNoticeLines(content) : withoutNotes(withoutNoticeLines(content));
  const said = withoutCommand?.(content) ?? content;
  return said.trim() === '' && content.trim() !== '' ? WORDLESS : withoutNotes(said);
}

/** What is asked where no message holds it: it stands at the end, behind everything that can be cached. */
export function looseQuestion({ input, entries }: Scene, { names }: Draft, goesOn: boolean) {
  const { question, goesOnFor } = input;
  if (goesOnFor !== undefined && !goesOn) {
    const participant = names.get(goesOnFor.id) ?? 'someone';
    return [{ participant, content: [{ type: 'text' as const, text: GO_ON }] }];
  }
  const inWindow = entries.some(({ messages }) => messages.some(({ id }) => id === question?.messageId));
  if (question === undefined || inWindow) return [];
  const text = question.text.trim() === '' ? WORDLESS : withoutNotes(question.text);
  const participant = names.get(question.speaker.id) ?? 'someone';
  return [{ participant, content: [{ type: 'text' as const, text }] }];
}

function messagesOf(entries: readonly Entry[]): readonly HistoryMessage[] {
  const all: HistoryMessage[] = [];
  for (const { messages } of entries) all.push(...messages);
  return all;
}
