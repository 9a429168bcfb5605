import { type Chance, createChance } from './chance.js';
import { chatterLine } from './chatter.js';
import { THEMES, type Theme } from './themes.js';

export interface Speaker {
  readonly id: string;
  readonly name: string;
}

export interface Utterance {
  readonly messageId: string;
  readonly speaker: Speaker;
  readonly text: string;
  readonly at: number;
  /** The person that the line is about: for small talk its speaker. */
  readonly subject: string;
  readonly fact: boolean;
}

export interface Query {
  readonly text: string;
  readonly askedBy: string;
  /** The person that the question is about; `null` for a person that does not exist. */
  readonly about: string | null;
  /** The message with the current answer at the end; `null` when there is none any more. */
  readonly evidence: string | null;
  /** Messages with earlier answers. */
  readonly outdated: readonly string[];
  readonly unforeseen: boolean;
}

export interface Corpus {
  readonly speakers: readonly Speaker[];
  readonly utterances: readonly Utterance[];
  readonly deleted: ReadonlySet<string>;
  readonly queries: readonly Query[];
}

/** Names that begin alike, contain one another, or differ by a letter. */
const NAMES = ['Anna', 'Annabel', 'Hanna', 'Ben', 'Benno', 'Bea', 'Mia', 'Maria', 'Marie', 'Jon', 'John', 'Joan'];
/** Names of people who are not in the channel. */
const STRANGERS = ['Annika', 'Bennet', 'Marius', 'Jonas', 'Hannah', 'Mila'];
const DAY_MS = 86_400_000;
const DAYS = 60;
const FIRST_ID = 10 ** 17;

const UPDATED = 0.3;
const CONTRADICTED = 0.2;
const DELETED = 0.12;
const BY_OTHERS = 0.15;
const ASKED_BY_MENTION = 0.2;
const ASKED_ONESELF = 0.2;

interface Told {
  readonly text: string;
  readonly speaker: Speaker;
  readonly subject: Speaker;
  readonly theme: Theme;
  readonly role: 'stands' | 'outdated' | 'rumour' | 'deleted';
}

/** Two months of a channel: facts that people tell about themselves and each other, updates, contradictions, deletions, and small talk. */
export function createCorpus(seed: number, size: number, startMs: number): Corpus {
  const chance = createChance(seed);
  const speakers = NAMES.map((name, index) => ({ id: String(200_000_000_000_000_000 + index * 1_000), name }));
  const sequences = speakers.flatMap((subject) => THEMES.map((theme) => tell(chance, theme, subject, speakers)));
  const placed = place(chance, sequences, size);

  const utterances: Utterance[] = [];
  const messages = new Map<Told, string>();
  for (let index = 0; index < size; index++) {
    const told = placed.get(index);
    const speaker = told?.speaker ?? chance.pick(speakers);
    const other = chance.pick(speakers.filter(({ id }) => id !== speaker.id));
    const messageId = String(FIRST_ID + index * 4_096);
    if (told !== undefined) messages.set(told, messageId);
    utterances.push({
      messageId,
      speaker,
      text: told?.text ?? chatterLine(chance, other.name),
      at: startMs + Math.floor((index * DAYS * DAY_MS) / size),
      subject: (told?.subject ?? speaker).id,
      fact: told !== undefined,
    });
  }
  const idOf = (told: Told) => messages.get(told) ?? '';
  const deleted = sequences.flat().filter(({ role }) => role === 'deleted');
  return {
    speakers,
    utterances,
    deleted: new Set(deleted.map(idOf)),
    queries: [
      ...sequences.flatMap((sequence) => ask(chance, sequence, speakers, idOf)),
      ...STRANGERS.flatMap((name) => askForStranger(chance, name, speakers)),
    ],
  };
}

/** The statements about one subject over time. */
function tell(chance: Chance, theme: Theme, subject: Speaker, speakers: readonly Speaker[]): readonly Told[] {
  const others = speakers.filter(({ id }) => id !== subject.id);
  const said = (speaker: Speaker, role: Told['role']): Told => {
    const line = chance.pick(speaker === subject ? theme.own : theme.others);
    const text = line.replaceAll('{v}', chance.pick(theme.values)).replaceAll('{n}', subject.name);
    return { text, speaker, subject, theme, role };
  };
  const teller = chance.happens(BY_OTHERS) ? chance.pick(others) : subject;
  const told: Told[] = [];
  if (chance.happens(UPDATED)) told.push(said(teller, 'outdated'));
  // A rumour precedes the person's own statement as often as it follows it.
  if (teller === subject && chance.happens(CONTRADICTED)) told.push(said(chance.pick(others), 'rumour'));
  const role = told.length === 0 && chance.happens(DELETED) ? 'deleted' : 'stands';
  told.splice(
    told.at(-1)?.role === 'rumour' && chance.happens(0.5) ? told.length - 1 : told.length,
    0,
    said(teller, role),
  );
  return told;
}

/** Distributes the statements over the channel, in order. */
function place(chance: Chance, sequences: readonly (readonly Told[])[], size: number): ReadonlyMap<number, Told> {
  const placed = new Map<number, Told>();
  for (const sequence of sequences) {
    const spots = new Set<number>();
    while (spots.size < sequence.length) {
      const spot = chance.below(size);
      if (!placed.has(spot)) spots.add(spot);
    }
    const ordered = [...spots].sort((a, b) => a - b);
    for (const [index, told] of sequence.entries()) placed.set(ordered[index] ?? 0, told);
  }
  return placed;
}

function ask(
  chance: Chance,
  sequence: readonly Told[],
  speakers: readonly Speaker[],
  idOf: (told: Told) => string,
): Query[] {
  const last = sequence.find(({ role }) => role === 'stands' || role === 'deleted');
  if (last === undefined) return [];
  const { subject, theme } = last;
  const own = chance.happens(ASKED_ONESELF);
  const mention = chance.happens(ASKED_BY_MENTION);
  const others = speakers.filter(({ id }) => id !== subject.id);
  const text = own ? chance.pick(theme.askedOwn) : chance.pick(theme.asked);
  return [
    {
      text: text.replaceAll('{n}', mention ? `<@${subject.id}>` : subject.name),
      askedBy: own ? subject.id : chance.pick(others).id,
      about: subject.id,
      evidence: last.role === 'stands' ? idOf(last) : null,
      outdated: sequence.filter(({ role }) => role === 'outdated').map(idOf),
      unforeseen: theme.unforeseen === true,
    },
  ];
}

function askForStranger(chance: Chance, name: string, speakers: readonly Speaker[]): Query[] {
  return THEMES.map((theme) => ({
    text: chance.pick(theme.asked).replaceAll('{n}', name),
    askedBy: chance.pick(speakers).id,
    about: null,
    evidence: null,
    outdated: [],
    unforeseen: theme.unforeseen === true,
  }));
}
