import { UserError, z } from '@cinnabar/sdk';
import type { ConversationStore, Line } from '../conversation/conversation-store.js';
import { isMember, type Memories, type NewMemory } from '../memory/types.js';
import type { PersonaStore } from '../state/persona-store.js';
import { tidyText } from '../state/schema.js';
import { defineAction, type TurnRun } from './action.js';

const result = z.object({
  text: tidyText(500).describe('What to remember, in one sentence that is clear on its own, with names'),
  about: z
    .string()
    .max(80)
    .default('')
    .describe(
      'Whom or what it is about: the name of a member, whether or not they are in the conversation, or a topic. Who said it, where it is empty',
    ),
  importance: z.number().min(1).max(10).default(4).describe('1 (a remark) to 10 (what changes a life)'),
  source: z
    .number()
    .int()
    .nullable()
    .default(null)
    .describe('Number of the line of the conversation in which it was said; null for what has just happened'),
  replaces: z
    .array(z.string())
    .max(10)
    .default([])
    .describe('Ids of my memories that it supersedes: what was so before, or the same in other words'),
});

export const addMemory = (memories: Memories, store: PersonaStore, conversations: Pick<ConversationStore, 'stand'>) =>
  defineAction({
    name: 'ADD_MEMORY',
    description: 'Store an important detail, or correct what I remember',
    contextNeeded: 'What is worth remembering, about whom, and who said it',
    result,
    parallel: true,
    async execute(wanted, run) {
      const { place, author, memoryPlace } = run;
      const line = lineOf(wanted.source, run);
      if (line !== undefined && !(await conversations.stand(place.channelId, [line]))) throw new UserError(CHANGED);
      const { outcome, memory, replaced } = await memories.add(
        asMemory(wanted, line, run, await subjectOf(wanted.about, run)),
      );
      for (const one of memory === undefined ? replaced : [memory, ...replaced]) run.noteMemory(one);
      if (memory !== undefined && (outcome === 'added' || outcome === 'updated')) {
        const change = { id: memory.id, channelId: memoryPlace.channelId, kind: 'added' } as const;
        await store.note(place, author, change);
      }
      const old = replaced.length === 0 ? '' : `, in place of: ${replaced.map(({ text }) => text).join('; ')}`;
      return `${OUTCOMES[outcome]}: ${wanted.text}${old}`;
    },
  });

const OUTCOMES = {
  added: 'remembered',
  updated: 'remembered',
  known: 'known already',
  refused: 'not remembered, because its message is gone',
} as const;

const CHANGED = 'that has been edited or deleted since';
/** Otherwise it would stay when what was said is deleted. */
const UNSAID = 'of what is about somebody, the line has to be given in which it was said';

/** Where it was said: in the line that the model names, or in what has just happened. @throws UserError when there is no such line */
function lineOf(source: number | null, { lines, trigger }: TurnRun): Line | undefined {
  if (source !== null) {
    const line = lines[source - 1];
    if (line === undefined) throw new UserError(`there is no line ${source}`);
    return line;
  }
  if (trigger.type !== 'user_input' && trigger.type !== 'tool_result') return undefined;
  const { messageId } = trigger;
  return messageId === null ? undefined : lines.find(({ messageIds }) => messageIds.includes(messageId));
}

/** Speaker and source are taken from the record, never from the model's words. */
function asMemory(
  { text, importance, replaces }: z.output<typeof result>,
  line: Line | undefined,
  run: TurnRun,
  subject: Subject | undefined,
): NewMemory {
  const speaker = line === undefined ? (run.speaker?.userId ?? run.botId) : (line.userId ?? run.botId);
  const trigger = 'messageId' in run.trigger ? run.trigger : undefined;
  const isOfMember = subject !== undefined && isMember(subject.id) && subject.id !== run.botId;
  if (line === undefined && run.speaker === undefined && isOfMember) {
    throw new UserError(UNSAID);
  }
  return {
    place: run.memoryPlace,
    text,
    speaker,
    speakerName: run.names.get(speaker),
    subject: subject?.id,
    subjectName: subject?.name,
    messageId: line === undefined ? (trigger?.messageId ?? null) : (line.messageIds[0] ?? null),
    at: line?.at ?? run.trigger.at,
    importance,
    supersedes: replaces,
    visibility: run.visibility,
  };
}

interface Subject {
  readonly id: string;
  readonly name: string | undefined;
}

/** Whom or what it is about: a member in the conversation, any other member of the server, or else a topic. @throws UserError when several are called that */
async function subjectOf(about: string, run: TurnRun): Promise<Subject | undefined> {
  const { names, self, botId } = run;
  const called = about.trim();
  const wanted = called.replace(/^@/, '').toLowerCase();
  if (wanted === '') return undefined;
  if (wanted === self.toLowerCase()) return { id: botId, name: self };
  const mentioned = /^<@!?(\d+)>$/.exec(called)?.[1];
  const present = [...names].find(([id, name]) => id === mentioned || name.toLowerCase() === wanted);
  if (present !== undefined) return { id: present[0], name: present[1] };
  const member = await run.findMember(called);
  return member === undefined ? { id: called, name: undefined } : { id: member.userId, name: member.name };
}

export const removeMemory = (memories: Memories, store: PersonaStore) =>
  defineAction({
    name: 'REMOVE_MEMORY',
    description: 'Forget a specific memory that turned out to be wrong or does not matter any more',
    contextNeeded: 'Which memory it is, and why it should go',
    result: z.object({ memory: z.string().min(1).max(80).describe('Its id, as it stands among my memories') }),
    parallel: true,
    async execute({ memory: id }, { place, author, memoryPlace, noteMemory }) {
      const memory = await memories.find(memoryPlace, id);
      if (memory === undefined || !(await memories.setAside(memoryPlace, id))) {
        throw new UserError('There is no such memory.');
      }
      noteMemory(memory);
      const change = { id, channelId: memoryPlace.channelId, kind: 'setAside' } as const;
      await store.note(place, author, change);
      return `forgot: ${memory.text}`;
    },
  });

export const reflect = (memories: Memories) =>
  defineAction({
    name: 'REFLECT',
    description: 'Draw conclusions from what I remember, and keep them',
    contextNeeded: 'Which of the memories to reflect on belong together, and what they may mean',
    result: z.object({
      insights: z
        .array(
          z.object({
            text: tidyText(500).describe('The insight, in one sentence that is clear on its own'),
            evidence: z.array(z.string()).max(50).describe('Ids of the memories that it rests on'),
            importance: z.number().min(1).max(10).default(6),
          }),
        )
        .max(5)
        .describe('At most five; none when nothing follows'),
    }),
    isOffered: ({ reflection }) => reflection !== undefined,
    async execute({ insights }, { memoryPlace, noteMemory }) {
      const kept = await memories.reflect(memoryPlace, insights);
      for (const memory of kept) noteMemory(memory);
      return kept.length === 0 ? 'nothing follows' : kept.map(({ text }) => text).join(' · ');
    },
  });
