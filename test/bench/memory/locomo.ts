import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from '@cinnabar/sdk';
import type { Corpus, Speaker, Utterance } from './corpus.js';

/** A long conversation of LoCoMo (Maharana et al. 2024), with questions whose evidence is known. */
export interface Conversation extends Corpus {
  readonly questions: readonly Question[];
}

export interface Question {
  readonly text: string;
  /** Ids of the messages that contain the answer; at least one. */
  readonly evidence: readonly string[];
  readonly isOfTime: boolean;
}

const MINUTE_MS = 60_000;
const FIRST_ID = 10 ** 17;
const TEMPORAL = 2;

const turns = z.array(z.object({ speaker: z.string(), dia_id: z.string(), text: z.string() }));
const questions = z.array(
  z.object({ question: z.string(), evidence: z.array(z.string()).default([]), category: z.number() }),
);
const entry = z.looseObject({ conversation: z.looseObject({}).optional(), qa: questions });

/** All conversations in the JSON files of a folder: one per file, or lists. */
export function locomoIn(folder: string): readonly Conversation[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .flatMap((name) => [JSON.parse(readFileSync(join(folder, name), 'utf8'))].flat())
    .map((content) => conversationOf(entry.parse(content)));
}

function conversationOf(content: z.output<typeof entry>): Conversation {
  const conversation: Readonly<Record<string, unknown>> = content.conversation ?? content;
  const sessions = Object.keys(conversation)
    .flatMap((key) => /^session_(\d+)$/.exec(key)?.[1] ?? [])
    .sort((one, other) => Number(one) - Number(other));
  const said = sessions.flatMap((session) => {
    const start = momentOf(z.string().parse(conversation[`session_${session}_date_time`]));
    // The data contain one time for each session.
    return turns
      .parse(conversation[`session_${session}`])
      .map((turn, index) => ({ ...turn, at: start + index * MINUTE_MS }));
  });
  const idOf = new Map(said.map(({ dia_id }, index) => [dia_id, String(FIRST_ID + index * 4_096)]));
  const speakers: readonly Speaker[] = [...new Set(said.map(({ speaker }) => speaker))].map((name, index) => ({
    id: String(200_000_000_000_000_000 + index * 1_000),
    name,
  }));
  const utterances = said.flatMap(({ speaker, text, at, dia_id }): Utterance[] => {
    const [one] = speakers.filter(({ name }) => name === speaker);
    const messageId = idOf.get(dia_id);
    return one === undefined || messageId === undefined
      ? []
      : [{ messageId, speaker: one, text, at, subject: one.id, fact: true }];
  });
  return {
    speakers,
    utterances,
    deleted: new Set(),
    queries: [],
    questions: content.qa.flatMap(({ question, evidence, category }) => {
      // Some entries name several turns, or contain an extra colon.
      const ids = evidence
        .flatMap((each) => [...each.matchAll(/D:?(\d+):(\d+)/g)])
        .flatMap(([, session, turn]) => idOf.get(`D${session}:${turn}`) ?? []);
      const isOfTime = category === TEMPORAL;
      return ids.length === 0 ? [] : [{ text: question, evidence: [...new Set(ids)], isOfTime }];
    }),
  };
}

/** @param text in the form "1:56 pm on 8 May, 2023" */
function momentOf(text: string): number {
  const [time = '', date = ''] = text.split(' on ');
  const moment = Date.parse(`${date} ${time} UTC`);
  if (Number.isNaN(moment)) throw new TypeError(`"${text}" is no moment`);
  return moment;
}
