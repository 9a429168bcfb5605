import {
  isTextFile,
  type Named,
  participantNames,
  sanitizeName,
  type TextFile,
  textMessage,
  withoutNotes,
  withoutNoticeLines,
} from '@cinnabar/sdk';
import type { BotConfig } from '../config/keys.js';
import type { CachedImage, HistoryAttachment, HistoryMessage, Images, TextFiles } from '../history/types.js';
import { attachmentKey, type Entry, isVisible, type Line, type Shown, toEntries, toLines } from './transcript.js';
import type { ContextInput } from './types.js';

/** The content that is available before a window is chosen. */
export interface Scene {
  readonly input: ContextInput;
  readonly selfName: string;
  readonly entries: readonly Entry[];
  readonly hidden: number;
  readonly imageKind: Kind<CachedImage>;
  readonly textFileKind: Kind<TextFile>;
}

/** A window of the scene, as the model would get it. */
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

/** Continues the previous window with the same names, images and text files; otherwise `tooMany` names the limit that is exceeded. */
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

/** Starts a new window, with the newest images and text files. */
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

/** A question that no message contains. It is placed at the end, after everything that can be cached. */
export function looseQuestion({ input, entries }: Scene, { names }: Draft, goesOn: boolean) {
  const { question, goesOnFor } = input;
  if (goesOnFor !== undefined && !goesOn) {
    const participant = names.get(goesOnFor.id) ?? 'someone';
    return [textMessage(participant, GO_ON)];
  }
  const inWindow = entries.some(({ messages }) => messages.some(({ id }) => id === question?.messageId));
  if (question === undefined || inWindow) return [];
  const text = question.text.trim() === '' ? WORDLESS : withoutNotes(question.text);
  const participant = names.get(question.speaker.id) ?? 'someone';
  return [textMessage(participant, text)];
}

function messagesOf(entries: readonly Entry[]): readonly HistoryMessage[] {
  const all: HistoryMessage[] = [];
  for (const { messages } of entries) all.push(...messages);
  return all;
}

/** Names that the model could take for something other than a person. */
const RESERVED = ['System', 'Assistant', 'User', 'Human', 'Developer', 'Tool', 'Function', 'everyone', 'here'];
const UNNAMED = 'Cinnabar';

export function selfName(...candidates: readonly (string | undefined)[]): string {
  return candidates.map((name) => sanitizeName(name ?? '')).find((name) => name !== '') ?? UNNAMED;
}

/**
 * Unique names of speakers, different from the bot's and from names of roles. Those in `kept` do not change, even if people change their names: text with them
 * is in the provider's cache. New speakers with the same name get their username appended.
 */
function nameSpeakers(
  people: Iterable<Named>,
  self: string,
  kept: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const known = new Map(Object.entries(kept));
  const newcomers = [...people].filter(({ id }) => !known.has(id));
  if (newcomers.length === 0) return known;
  const names = participantNames(newcomers, [self, ...RESERVED, ...known.values()]);
  return new Map([...known, ...newcomers.map(({ id }) => [id, names.get(id) ?? `member ${id}`] as const)]);
}

/** The speakers and mentioned members in the messages, in order, each with the name in the latest message. */
function peopleIn(
  messages: readonly HistoryMessage[],
  mentioned: (id: string) => Omit<Named, 'id'> | undefined,
): readonly Named[] {
  const people = new Map<string, Named>();
  for (const { author, content } of messages) {
    if (!author.self) {
      people.set(author.speaker, {
        id: author.speaker,
        displayName: author.displayName,
        username: author.bot && author.speaker !== author.id ? 'webhook' : author.username,
      });
    }
    if (!content.includes('<@')) continue;
    for (const [, id = ''] of content.matchAll(/<@!?(\d+)>/g)) {
      if (people.has(id)) continue;
      const name = mentioned(id);
      people.set(id, { id, displayName: name?.displayName ?? '', username: name?.username ?? '' });
    }
  }
  return [...people.values()];
}

/** One kind of attachment, with its limits and how to load it. */
interface Kind<T> {
  /** Its name in explanations of a cache miss. */
  readonly name: string;
  /** Maximum number; the newest are shown. */
  readonly most: number;
  /** Maximum total size in bytes. */
  readonly mostBytes: number;
  isOne(attachment: HistoryAttachment): boolean;
  /** `undefined` when it cannot be loaded, or is too large. */
  load(attachment: HistoryAttachment): Promise<T | undefined>;
  bytesOf(item: T): number;
}

type ImageConfig = Pick<BotConfig, 'includeImages' | 'imageMaxBytes' | 'imageMaxTotalBytes' | 'maxImages'>;

function imagesOf(
  { includeImages, maxImages, imageMaxBytes, imageMaxTotalBytes }: ImageConfig,
  images: Pick<Images, 'load'>,
): Kind<CachedImage> {
  return {
    name: 'images',
    most: includeImages ? maxImages : 0,
    mostBytes: imageMaxTotalBytes,
    isOne: (attachment) => mayBeImage(attachment) && attachment.sizeBytes <= imageMaxBytes,
    async load(attachment) {
      const image = await images.load(attachment);
      return image === undefined || image.sizeBytes > imageMaxBytes ? undefined : image;
    },
    bytesOf: ({ sizeBytes }) => sizeBytes,
  };
}

function mayBeImage({ contentType, name }: HistoryAttachment): boolean {
  return contentType === null ? /\.(?:png|jpe?g|gif|webp)$/i.test(name) : contentType.startsWith('image/');
}

function textFilesOf(
  { maxTextFiles, textFileMaxBytes }: Pick<BotConfig, 'maxTextFiles' | 'textFileMaxBytes'>,
  files: Pick<TextFiles, 'read'>,
): Kind<TextFile> {
  return {
    name: 'text files',
    most: maxTextFiles,
    mostBytes: Number.POSITIVE_INFINITY,
    isOne: isTextFile,
    load: (attachment) => files.read(attachment, textFileMaxBytes),
    bytesOf: ({ text }) => text.length,
  };
}

interface Candidate {
  readonly key: string;
  readonly attachment: HistoryAttachment;
}

/** Attachments that may be of this kind, newest first. */
function candidatesIn<T>(messages: readonly HistoryMessage[], kind: Kind<T>): readonly Candidate[] {
  return messages
    .filter(({ author, attachments }) => attachments.length > 0 && !author.self)
    .flatMap((message) =>
      message.attachments.map((attachment) => ({ key: attachmentKey(message, attachment), attachment })),
    )
    .filter(({ attachment }) => kind.isOne(attachment))
    .reverse();
}

/** The newest attachments within the limits. */
async function newest<T>(messages: readonly HistoryMessage[], kind: Kind<T>): Promise<Shown<T>> {
  const shown = new Map<string, T>();
  let bytes = 0;
  for (const { key, attachment } of candidatesIn(messages, kind)) {
    if (shown.size >= kind.most) break;
    const item = await kind.load(attachment);
    if (item === undefined) continue;
    if (bytes + kind.bytesOf(item) > kind.mostBytes) break;
    bytes += kind.bytesOf(item);
    shown.set(key, item);
  }
  return shown;
}

/**
 * The attachments shown before, followed by new ones, so that the cached prefix keeps its attachments. `undefined` when they exceed the limits: then the oldest
 * have to be removed, which changes the prefix.
 * @param isNew whether a message came after the previous request
 */
async function kept<T>(
  messages: readonly HistoryMessage[],
  before: ReadonlySet<string>,
  isNew: (message: HistoryMessage) => boolean,
  kind: Kind<T>,
): Promise<Shown<T> | undefined> {
  if (kind.most === 0) return new Map();
  const candidates = candidatesIn(messages, kind);
  if (candidates.length === 0) return new Map();
  const recent = new Set(candidatesIn(messages.filter(isNew), kind).map(({ key }) => key));
  const wanted = candidates.filter(({ key }) => before.has(key) || recent.has(key));
  const loaded = await Promise.all(wanted.map(({ attachment }) => kind.load(attachment)));
  const shown = new Map<string, T>();
  for (const [index, { key }] of wanted.entries()) {
    const item = loaded[index];
    if (item !== undefined) shown.set(key, item);
  }
  const bytes = [...shown.values()].reduce((sum, item) => sum + kind.bytesOf(item), 0);
  return shown.size > kind.most || bytes > kind.mostBytes ? undefined : shown;
}
