import {
  FOR_REQUESTER_ALONE,
  type PersonaChain,
  type PersonaTrigger,
  type SettledOutcome,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { PersonaContext } from '../context.js';
import type { ConversationStore, Line } from '../conversation/conversation-store.js';
import type { Memories } from '../memory/memories.js';
import { isMember, type NewMemory } from '../memory/types.js';
import { post } from '../running/execute-action.js';
import { runPersona } from '../running/run.js';
import type { PersonaStore } from '../state/persona-store.js';
import { addItem, LIMITS, removeItem, type State, tidyText, type Wish } from '../state/state.js';
import { type Action, defineAction, type TurnRun } from './action.js';

type Stores = Pick<PersonaContext, 'conversations' | 'memories' | 'store'>;

/**
 * The built-in actions, in the order in which the planner's prompt lists them.
 * @param persona returns the context when a tool is used; a value would not do, because the registry of actions is part of the context
 */
export function builtinActions(
  { conversations, memories, store }: Stores,
  persona: () => PersonaContext,
): readonly Action[] {
  return [
    think,
    updateMood(store),
    addMemory(memories, store, conversations),
    removeMemory(memories, store),
    updateText(store, 'appearance', {
      description: 'Change how I look',
      contextNeeded: 'What changes about my looks, and why',
      result: 'How I look now, in full',
    }),
    updateText(store, 'environment', {
      description: 'Change the setting I am in',
      contextNeeded: 'What changes around me, and why',
      result: 'Where I am now and what it is like there, in full',
    }),
    addWish(store, 'goal', {
      description: 'Set myself a new goal',
      contextNeeded: 'What I want to achieve, and what led to it',
    }),
    removeWish(store, 'goal', {
      description: 'Complete or abandon one of my goals',
      contextNeeded: 'Which goal it is, and whether I reached it or gave it up',
      outcomes: ['completed', 'abandoned'],
    }),
    addWish(store, 'desire', {
      description: 'Want something new, here and now',
      contextNeeded: 'What I want right now, and what woke that want',
    }),
    removeWish(store, 'desire', {
      description: 'Let go of a desire, satisfied or given up',
      contextNeeded: 'Which desire it is, and what became of it',
      outcomes: ['satisfied', 'abandoned'],
    }),
    reflect(memories),
    useTool(persona),
    speak,
    done,
  ];
}

/** Sequences for common patterns. */
export const CHAINS: readonly PersonaChain[] = [
  {
    name: 'FEEL_AND_ANSWER',
    description: 'Something touched me: think, let the mood follow, answer',
    actions: ['THINK', 'UPDATE_MOOD', 'SPEAK'],
  },
  {
    name: 'LEARN_AND_ANSWER',
    description: 'I was told something worth keeping: remember it, answer',
    actions: ['ADD_MEMORY', 'SPEAK'],
  },
  {
    name: 'ACT_AND_REPORT',
    description: 'I was asked for something that a tool does: use it, tell what came of it',
    actions: ['USE_TOOL', 'SPEAK'],
  },
  {
    name: 'NOTICE_IN_SILENCE',
    description: 'Not for me to answer, but not nothing to me: think, let the mood follow, stay silent',
    actions: ['THINK', 'UPDATE_MOOD', 'DONE'],
  },
];

const think = defineAction({
  name: 'THINK',
  description: 'Process emotional reactions and analyze the situation',
  contextNeeded:
    'Specific aspects to focus thinking on: emotional elements, relationship dynamics, or particular details requiring analysis',
  result: z.object({ thought: tidyText(4_000).describe('The thought itself, in the first person; nobody hears it') }),
  kind: 'thought',
  execute: ({ thought }) => thought,
});

const speak = defineAction({
  name: 'SPEAK',
  description: 'Say something in the channel; never needed when silence says enough',
  contextNeeded: 'What I want to get across, to whom, and in which tone',
  result: z.object({
    message: tidyText(6_000).describe(
      'My words as everybody reads them: usually one to three sentences, no name in front',
    ),
    again: z.boolean().default(false).describe('Whether they asked me to say again what I have said'),
  }),
  kind: 'speech',
  // A requested repetition is allowed.
  words: ({ message, again }) => (again ? undefined : message),
  async execute({ message }, { say }) {
    await say(message);
    return message;
  },
});

const done = defineAction({
  name: 'DONE',
  description: 'Complete the sequence; nothing after it is carried out',
  contextNeeded: 'Why nothing more is needed',
  result: z.object({}),
  kind: 'end',
  execute: () => 'done',
});

const updateMood = (store: PersonaStore) =>
  defineAction({
    name: 'UPDATE_MOOD',
    description: 'Change my current mood and how strongly I feel it',
    contextNeeded: 'What caused the change, and in which direction it goes',
    result: z.object({
      mood: tidyText(LIMITS.mood).describe('The mood in a word or two'),
      intensity: z.number().min(0).max(10).describe('0 (hardly felt) to 10 (overwhelming)'),
    }),
    after: ['THINK'],
    parallel: true,
    async execute({ mood, intensity }, { place, author }) {
      const what = `mood: ${mood} (${intensity})`;
      await store.change(place, author, what, (state) => {
        state.mood = { name: mood, intensity };
      });
      return what;
    },
  });

interface Wording {
  readonly description: string;
  readonly contextNeeded: string;
}

const updateText = (
  store: PersonaStore,
  key: 'appearance' | 'environment',
  { result, ...wording }: Wording & { readonly result: string },
) =>
  defineAction({
    ...wording,
    name: `UPDATE_${key.toUpperCase()}`,
    result: z.object({ [key]: tidyText(LIMITS.short).describe(result) }),
    parallel: true,
    async execute({ [key]: text = '' }, { place, author }) {
      const what = `${key}: ${text}`;
      await store.change(place, author, what, (state) => {
        state[key] = text;
      });
      return what;
    },
  });

const wishesIn = ({ goals, desires }: State, wish: Wish) => (wish === 'goal' ? goals : desires);

const addWish = (store: PersonaStore, wish: Wish, wording: Wording) =>
  defineAction({
    ...wording,
    name: `ADD_${wish.toUpperCase()}`,
    result: z.object({ [wish]: tidyText(LIMITS.short).describe(`The ${wish} in one sentence`) }),
    parallel: true,
    async execute({ [wish]: text = '' }, { place, author, origin }) {
      const what = `new ${wish}: ${text}`;
      await store.change(place, author, what, (state, at) =>
        addItem(wishesIn(state, wish), { text, userId: author.userId, at, origin }, wish),
      );
      return what;
    },
  });

const removeWish = (
  store: PersonaStore,
  wish: Wish,
  { outcomes, ...wording }: Wording & { readonly outcomes: readonly [string, string] },
) =>
  defineAction({
    ...wording,
    name: `REMOVE_${wish.toUpperCase()}`,
    result: z.object({
      [wish]: tidyText(LIMITS.short).describe('Its text, as it stands in my state'),
      outcome: z.enum(outcomes).describe('How it ended'),
    }),
    parallel: true,
    async execute({ [wish]: named = '', outcome }, { place, author }) {
      let removed = '';
      await store.change(place, author, `${wish} ${outcome}: ${named}`, (state, at) => {
        removed = removeItem(wishesIn(state, wish), named, at, wish);
      });
      return `${wish} ${outcome}: ${removed}`;
    },
  });

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

const addMemory = (memories: Memories, store: PersonaStore, conversations: Pick<ConversationStore, 'stand'>) =>
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
/** Such a memory needs a source line: without one, it would stay when that message is deleted. */
const UNSAID = 'of what is about somebody, the line has to be given in which it was said';

/** The line that the memory comes from: the one that the model names, otherwise that of the trigger. @throws UserError when there is no such line */
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

/** Takes speaker and source from the stored line, never from the model's text. */
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

/** The subject: a member in the conversation, any other member of the server, or else a topic. @throws UserError when several members have that name */
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

const removeMemory = (memories: Memories, store: PersonaStore) =>
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

const reflect = (memories: Memories) =>
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

/**
 * Calls a tool for the requesting member, with all guards of the host's tools.
 * @param persona returns the context when a call is made; a value would not do, because the registry of actions is part of the context
 */
const useTool = (persona: () => PersonaContext) =>
  defineAction({
    name: 'USE_TOOL',
    description: 'Use one of the tools listed below for the member who asked, with their rights',
    contextNeeded: 'Which tool, for what, and the arguments as far as they were said',
    result: z.object({
      tool: z.string().min(1).max(64).describe('Name of the tool'),
      arguments: z.record(z.string(), z.unknown()).describe('Arguments that fit its parameters'),
    }),
    revealing: true,
    quotes: true,
    isOffered: ({ tools: offered }) => offered.length > 0,
    async execute({ tool, arguments: given }, run) {
      const { actor, trigger } = run;
      if (actor === undefined || !run.tools.some(({ name }) => name === tool)) {
        throw new UserError(`There is no tool called "${tool}" for what is being answered.`);
      }
      const { tools, background } = persona();
      const outcome = await untilAborted(run.signal, (signal) =>
        tools.invoke({ name: tool, arguments: given, actor, signal, origin: 'persona', ...messageOf(trigger) }),
      );
      run.noteCall(tool, outcome.status);
      if (outcome.status !== 'deferred') return `${tool}: ${settledText(outcome)}`;
      await noteDeferred(run, tool, outcome.callId, persona());
      void outcome.settled.then((settled) =>
        background.run('thinking about the end of a call', () => resume(run, tool, settled, persona())),
      );
      return `${tool}: ${outcome.note}`;
    },
  });

function messageOf(trigger: PersonaTrigger): { messageId?: string } {
  return trigger.type === 'user_input' && trigger.messageId !== null ? { messageId: trigger.messageId } : {};
}

/** Passes the abort of a run on to a call that is executing. A deferred call is not aborted: its confirmation may take longer than any run. */
async function untilAborted<T>(signal: AbortSignal, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  try {
    return await task(controller.signal);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Adds a deferred call to the conversation, so that later runs see its state. */
async function noteDeferred(
  run: TurnRun,
  tool: string,
  callId: string,
  { conversations, clock }: PersonaContext,
): Promise<void> {
  const line = { messageIds: [], userId: null, displayName: '', username: '', text: tool, at: clock.now(), callId };
  await conversations.add(run.place.channelId, [line]);
}

/**
 * Runs the persona again after a deferred call was executed or has failed, so that it can comment on the result to the requesting member. This run has no
 * tools, because the text of a result must not lead to another call. A call that was cancelled or has expired starts no run.
 */
async function resume(
  { trigger, place, actor, completed }: TurnRun,
  tool: string,
  outcome: SettledOutcome,
  persona: PersonaContext,
): Promise<void> {
  if (outcome.status !== 'done' && outcome.status !== 'failed') return;
  if (persona.signal.aborted || !persona.plugins.enabledIn(place.guildId, 'persona')) return;
  if (trigger.type !== 'user_input' && trigger.type !== 'tool_result') return;
  const channel = persona.client.channels.cache.get(place.channelId);
  if (channel?.isSendable() !== true || !(await persona.settingsFor(place.guildId)).toolResults) return;
  try {
    await runPersona(
      {
        trigger: toolResult(trigger, tool, outcome, persona.clock.now()),
        channel,
        guildId: place.guildId,
        actor,
        tools: [],
        send: post(channel, persona, { replyTo: trigger.messageId ?? undefined }),
        message: null,
        before: completed,
        signal: persona.signal,
      },
      persona,
    );
  } catch (error) {
    persona.log.info('a persona could not think about a tool result', { ...place, tool, error });
  }
}

type Asked = Extract<PersonaTrigger, { type: 'user_input' | 'tool_result' }>;

/** The trigger for a deferred call that has ended. */
function toolResult(asked: Asked, tool: string, outcome: SettledOutcome, at: number): PersonaTrigger {
  const { callId, status } = outcome;
  const { speaker, messageId } = asked;
  return { type: 'tool_result', content: settledText(outcome), at, speaker, tool, callId, status, messageId };
}

/** The outcome of a call as a sentence for the model. */
function settledText(outcome: SettledOutcome): string {
  switch (outcome.status) {
    case 'done':
      return outcome.audience === 'requester' ? FOR_REQUESTER_ALONE : `It ran: ${outcome.text}`;
    case 'failed':
      return `It failed: ${outcome.error.message}`;
    default:
      return `It did not run: ${outcome.reason}`;
  }
}
