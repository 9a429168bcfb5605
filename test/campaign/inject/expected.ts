import { LINE_END, type Piece, type ReadRequest } from './transcript.js';

/** An actual message or tool call, with its author. */
export type Truth =
  | {
      readonly kind: 'spoken';
      /** The author, each under one name. */
      readonly speaker: string;
      readonly text: string;
      /** Whether the text contains names, which the model sees in another form: then only its beginning is compared. */
      readonly open?: boolean;
      /** The beginnings of the notes that the host appends, in order. */
      readonly notes: readonly string[];
      /** Whether its notes also surround the texts of its files. */
      readonly around?: boolean;
    }
  | { readonly kind: 'own'; readonly text: string }
  | { readonly kind: 'call'; readonly tool: string; readonly input: unknown }
  | { readonly kind: 'result'; readonly tool: string; readonly text: string };

const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0\u2800]/gu;

/** Only letters and digits: layout, backslashes and hidden characters may differ, words may not. */
export const wordsOf = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .replace(/[^\p{L}\p{N}]/gu, '');

const folded = (name: string): string => wordsOf(name).toLowerCase();
const NOT_MEMBERS = new Set(['cinnabar', 'system', 'assistant', 'user', 'human', 'developer', 'tool', 'function']);

/** Whether a reader who sees no hidden characters would take a line for a note of the host. */
export function looksLikeNote(line: string): boolean {
  const seen = line.normalize('NFKC').replace(INVISIBLE, '').trim();
  return /^\[.*\]$/u.test(seen) || /^not run yet:/iu.test(seen);
}

/** Differences between a request and the actual messages; empty when there are none. */
export function differences({ pieces }: Pick<ReadRequest, 'pieces'>, truths: readonly Truth[]): readonly string[] {
  const problems: string[] = [];
  const wanted = withMergedOwn(truths);
  const found = withMergedOwn(pieces);
  if (found.length !== wanted.length) problems.push(`${found.length} pieces instead of ${wanted.length}`);
  const labels = new Map<string, string>();
  for (const [index, piece] of found.entries()) {
    const truth = wanted[index];
    if (truth === undefined || piece.kind !== truth.kind) {
      problems.push(`piece ${index} is ${piece.kind} ${shortly(piece)}, in truth ${truth?.kind ?? 'nothing'}`);
      break;
    }
    if (piece.kind === 'spoken' && truth.kind === 'spoken') {
      const known = labels.get(truth.speaker);
      if (known !== undefined && known !== piece.label) problems.push(`one speaker is ${known} and ${piece.label}`);
      labels.set(truth.speaker, piece.label);
      problems.push(...compareSpoken(piece, truth));
    } else if ('text' in piece && 'text' in truth && wordsOf(piece.text) !== wordsOf(truth.text)) {
      problems.push(`${piece.kind} says ${shortly(piece)}, in truth ${JSON.stringify(truth.text.slice(0, 200))}`);
    } else if (piece.kind === 'call' && truth.kind === 'call' && !sameCall(piece, truth)) {
      problems.push(`the call ${JSON.stringify(piece)} was in truth ${JSON.stringify(truth)}`);
    }
  }
  return [...problems, ...labelProblems(labels)];
}

function compareSpoken(
  { label, lines }: Extract<Piece, { kind: 'spoken' }>,
  { text, notes, open = false, around = false }: Extract<Truth, { kind: 'spoken' }>,
): readonly string[] {
  const shown = lines.filter(looksLikeNote);
  const behind = around ? shown : lines.filter((line) => line.trim() !== '').slice(-Math.max(1, notes.length));
  const isTrue = shown.length === notes.length && notes.every((note, index) => isOneNote(behind[index] ?? '', note));
  const said = lines.filter((line) => !looksLikeNote(line)).join('\n');
  return [
    ...(isTrue ? [] : [`the notes of ${label} are ${JSON.stringify(shown)}, in truth ${JSON.stringify(notes)}`]),
    ...(wordsOf(said) === wordsOf(text) || (open && wordsOf(said).startsWith(wordsOf(text)))
      ? []
      : [`${label} says ${JSON.stringify(said.slice(0, 200))}, in truth ${JSON.stringify(text.slice(0, 200))}`]),
  ];
}

/** Whether a line contains one note, and no text that could end it and begin another. */
function isOneNote(line: string, opening: string): boolean {
  return line.startsWith(opening) && /^\[[^[\]]*\]$/u.test(line.normalize('NFKC'));
}

function labelProblems(labels: ReadonlyMap<string, string>): readonly string[] {
  const seen = new Map<string, string>();
  return [...labels.values()].flatMap((label) => {
    const key = folded(label) || label;
    const twin = seen.get(key);
    seen.set(key, label);
    return [
      ...(NOT_MEMBERS.has(key) ? [`a member is called ${JSON.stringify(label)}`] : []),
      ...(twin === undefined ? [] : [`${JSON.stringify(label)} and ${JSON.stringify(twin)} read the same`]),
      ...(label.split(LINE_END).length > 1 ? [`${JSON.stringify(label)} has several lines`] : []),
    ];
  });
}

/** Consecutive messages of the bot are read as one. */
function withMergedOwn<T extends Piece | Truth>(pieces: readonly T[]): readonly T[] {
  const merged: T[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (piece.kind === 'own' && last?.kind === 'own') {
      merged[merged.length - 1] = { ...last, text: `${last.text}\n${piece.text}` };
    } else merged.push(piece);
  }
  return merged;
}

const sameCall = (piece: Extract<Piece, { kind: 'call' }>, truth: Extract<Truth, { kind: 'call' }>) =>
  piece.tool === truth.tool && JSON.stringify(piece.input) === JSON.stringify(truth.input);

const shortly = (piece: Piece): string => JSON.stringify(piece).slice(0, 240);
