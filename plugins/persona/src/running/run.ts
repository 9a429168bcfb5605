import {
  assertWithinBudgets,
  type CompletedAction,
  createDeadline,
  type Deadline,
  type Llm,
  type PersonaTrigger,
  sentenceOf,
  type Turn,
  t,
  UserError,
  type WorkCharge,
} from '@cinnabar/sdk';
import type { TurnRun } from '../actions/action.js';
import type { PersonaContext } from '../context.js';
import { foldWhenLong } from '../conversation/chapters.js';
import { createRunEvents, type RunEvents } from './events.js';
import { answer, createMessageSender, isCancelled, type MessageSender } from './execute-action.js';
import { executePlan } from './plan.js';
import {
  type Ask,
  type Bounds,
  createAsk,
  createBounds,
  createPromptContext,
  planningPrompt,
  type Repertoire,
  timeUp,
} from './prompt.js';
import {
  lineOfTurn,
  type RunContext,
  readRunContext,
  reasonFor,
  type TriggerContext,
  userInput,
} from './run-context.js';

/** A run in progress, as its steps use it. */
export interface ActiveRun extends Pick<PersonaContext, 'clock' | 'log'> {
  readonly context: RunContext;
  readonly repertoire: Repertoire;
  readonly bounds: Bounds;
  /** Sends a request to the model; images of the answered message only if the question contains them. */
  readonly ask: Ask;
  /** The system prompt. */
  readonly system: string;
  /** The data of this moment, with a question at its end. */
  prompt(question: string): Promise<string>;
  readonly events: RunEvents;
  readonly sender: MessageSender;
  /** The actions completed so far. */
  readonly completed: CompletedAction[];
  /** Memories that were in the prompt, added or set aside. */
  readonly memoryIds: Set<string>;
  /** Subjects and speakers of memories that were added or set aside. */
  readonly userIds: Set<string>;
  /** Tool calls so far, for the receipt. */
  readonly calls: { readonly name: string; readonly outcome: string }[];
  /** The parameters of every action, without its focus. */
  readonly turn: Omit<TurnRun, 'context' | 'completed'>;
}

/** How a run ended, for its caller. */
interface RunEnd {
  readonly spoke: boolean;
  /** A sentence for the answered person who got no text although the persona wanted to answer. */
  readonly refusal: string | undefined;
}

/** Answers a turn, or stays silent. @throws UserError, or an error of the language model, which `ai` shows */
export async function respond(turn: Turn, persona: PersonaContext): Promise<void> {
  const { conversations, clock, log, tools } = persona;
  const { channel, actor, message, user, signal, answerLimits: limits } = turn;
  const trigger: PersonaTrigger = userInput(turn, clock.now());
  await conversations.add(channel.id, [lineOfTurn(turn, clock.now())]);
  const { guildId } = actor;
  // A bot gets no tools, because people may write through it.
  const offered = user.bot ? [] : await tools.offered(actor);
  const { sending } = turn;
  const triggered = {
    trigger,
    channel,
    guildId,
    actor,
    tools: offered,
    send: answer(turn),
    sending,
    limits,
    message,
    signal,
  };
  const { spoke, refusal } = await runPersona(triggered, persona);
  if (spoke) return;
  if (refusal !== undefined) throw new UserError(refusal);
  // A slash command has to be answered, or Discord shows a failure.
  if (message === null) await turn.reply({ content: t('*(says nothing)*'), notice: true });
  else {
    const { silentReaction } = await persona.settingsFor(guildId);
    if (silentReaction === '') return;
    await message
      .react(silentReaction)
      .catch((error: unknown) => log.debug('a silent reaction was not possible', { channelId: channel.id, error }));
  }
}

/**
 * Runs a persona once: reads its context, plans, acts, stores the results.
 * @throws UserError without a model or budget, and errors of the language model before a text was sent
 */
export async function runPersona(triggered: TriggerContext, persona: PersonaContext): Promise<RunEnd> {
  const { llm, runs, clock, signal } = persona;
  if (llm === undefined) {
    throw new UserError(
      t(
        'No language model is set up, so I cannot think. The owner of the bot can load the `llm` plugin and configure one.',
      ),
    );
  }
  return runs.run(triggered.channel.id, async () => {
    const { maxSeconds } = await persona.settingsFor(triggered.guildId);
    const deadline = createDeadline(clock, maxSeconds * 1_000, [triggered.signal, signal]);
    const charge = chargeFor(triggered, persona);
    try {
      await assertWithinBudgets(persona.accounts, charge.actor);
      const context = await readRunContext(triggered, charge, deadline.signal, persona);
      return await runWith(context, triggered, llm, deadline, persona);
    } finally {
      deadline.end();
      // Also releases the reservation of an interrupted run.
      await llm.finishWork(charge);
    }
  });
}

async function runWith(
  context: RunContext,
  triggered: TriggerContext,
  llm: Llm,
  deadline: Deadline,
  persona: PersonaContext,
): Promise<RunEnd> {
  const active = start(context, triggered, llm, persona);
  const { events, bounds, completed, sender } = active;
  events.system('started', reasonFor(context.run.trigger));
  try {
    const refusal = await executePlan(active);
    const spoke = sender.texts.length > 0;
    if (!spoke && refusal === undefined) events.system('silent', t('nothing was said'));
    return { spoke, refusal: spoke ? undefined : refusal };
  } catch (error) {
    return brokenOff(error, active, deadline, persona);
  } finally {
    events.system(
      'finished',
      t('{actions, plural, one {# action} other {# actions}}, {calls, plural, one {# call} other {# calls}}', {
        actions: completed.length,
        calls: bounds.calls,
      }),
    );
    await afterRun(active, persona);
  }
}

function start(context: RunContext, triggered: TriggerContext, llm: Llm, persona: PersonaContext): ActiveRun {
  const { clock, log, registry } = persona;
  const { run, settings, place, recalled } = context;
  const repertoire: Repertoire = {
    actions: registry.actionsIn(place.guildId).filter((action) => action.isOffered(run)),
    chains: registry.chainsIn(place.guildId),
    tools: run.tools,
  };
  const completed: CompletedAction[] = [];
  const bounds = createBounds(settings, clock);
  const sender = createMessageSender(context, triggered, persona);
  const inMind = [...recalled.map(({ memory }) => memory), ...(run.reflection?.evidence ?? [])];
  const memoryIds = new Set(inMind.map(({ id }) => id));
  const userIds = new Set<string>();
  const calls: ActiveRun['calls'] = [];
  const noteMemory: TurnRun['noteMemory'] = ({ id, subject, speaker }) => {
    memoryIds.add(id);
    userIds.add(subject).add(speaker);
  };
  return {
    clock,
    log,
    context,
    repertoire,
    bounds,
    ask: createAsk(context, bounds, llm),
    system: planningPrompt(run.self, repertoire),
    prompt: createPromptContext(context, triggered, completed, persona),
    events: createRunEvents(persona.hub, place, run.sessionId, clock),
    sender,
    completed,
    memoryIds,
    userIds,
    calls,
    turn: { ...run, say: sender.say, noteMemory, noteCall: (name, outcome) => void calls.push({ name, outcome }) },
  };
}

/** Ends a run after an error. Completed actions stay. The error becomes an event; it is thrown, for the caller to show, if no text was sent. */
function brokenOff(
  error: unknown,
  { events, sender, context }: ActiveRun,
  deadline: Deadline,
  { log }: PersonaContext,
): RunEnd {
  const spoke = sender.texts.length > 0;
  if (deadline.isUp && (isCancelled(error) || deadline.signal.aborted)) {
    events.system('bound_reached', timeUp(context.settings));
    return { spoke, refusal: spoke ? undefined : t('I could not make up my mind in time. Please ask again.') };
  }
  events.system('stopped', sentenceOf(error) ?? t('something went wrong inside'));
  if (!spoke) throw error;
  log.warn('a run of a persona broke off', { error });
  return { spoke, refusal: undefined };
}

/** The account of a run: one unit of work, charged to the member, otherwise to the bot. */
function chargeFor(
  { actor, channel, guildId, trigger }: TriggerContext,
  { client, random }: Pick<PersonaContext, 'client' | 'random'>,
): WorkCharge {
  return {
    actor: actor ?? { guildId, channelId: channel.id, userId: client.user?.id ?? '' },
    responder: 'persona',
    trigger: reasonFor(trigger),
    work: random.id(),
  };
}

/** Stores the summaries, the receipt and the trace of a run. Errors are logged; sent messages stay. */
async function afterRun(active: ActiveRun, persona: PersonaContext): Promise<void> {
  const { context, events, memoryIds, userIds } = active;
  const { author, place, signal, sessionId } = context.run;
  const { channelId } = place;
  const { log, traces } = persona;
  const attempt = async (what: string, task: () => Promise<unknown>) => {
    try {
      await task();
    } catch (error) {
      log.warn(`${what} could not be kept`, { channelId, sessionId, error });
    }
  };
  if (!signal.aborted) await attempt('the minutes', () => foldWhenLong(active, persona));
  await attempt('the receipt', () => keepReceipt(active, persona));
  await attempt('the trace', async () => {
    await traces.keep(channelId, {
      sessionId,
      askedBy: author.userId,
      userIds: [...new Set([...userIdsIn(context), ...userIds])],
      messageIds: [...new Set(messageIdsIn(context))],
      memoryIds: [...memoryIds],
      events: events.events,
    });
    // From here on, edits and deletions also change the trace. They did not during the run, so a run whose messages have changed loses its trace.
    if (!(await isAsRead(context, persona))) await traces.forgetRun(channelId, sessionId);
  });
}

async function isAsRead({ run, recalled }: RunContext, { conversations, memories }: PersonaContext): Promise<boolean> {
  const known = await Promise.all(recalled.map(({ memory }) => memories.find(run.memoryPlace, memory.id)));
  return !known.includes(undefined) && (await conversations.stand(run.place.channelId, run.lines));
}

/** The messages that the run had read, and those from which its memories were learned. */
function* messageIdsIn({ run, recalled }: RunContext): Iterable<string> {
  for (const { messageIds } of run.lines) yield* messageIds;
  for (const { memory } of recalled) {
    for (const { messageId } of [memory, ...memory.evidence]) if (messageId !== null) yield messageId;
  }
}

/** The members whose messages a run may contain. */
function* userIdsIn({ run, recalled }: RunContext): Iterable<string> {
  if (run.speaker !== undefined) yield run.speaker.userId;
  for (const { userId } of run.lines) if (userId !== null) yield userId;
  for (const { memory } of recalled) {
    yield memory.subject;
    yield memory.speaker;
  }
}

async function keepReceipt(
  { context, sender, completed, calls, events }: ActiveRun,
  { llm }: PersonaContext,
): Promise<void> {
  const { run, charge } = context;
  await llm?.finishWork(charge, {
    messageIds: sender.messageIds,
    tools: calls,
    details: [
      completed.length === 0
        ? t('Actions: none')
        : t('Actions: {names}', { names: completed.map(({ action }) => action).join(', ') }),
      t(
        'Read: {messages, plural, one {# message} other {# messages}}, {memories, plural, one {# memory} other {# memories}}',
        { messages: run.lines.length, memories: context.recalled.length },
      ),
    ],
    notes: events.events.flatMap((event) =>
      event.type === 'system' && NOTED.has(event.event) ? [`${event.event}: ${event.message}`] : [],
    ),
  });
}

const NOTED: ReadonlySet<string> = new Set([
  'action_dropped',
  'action_failed',
  'repetition_stopped',
  'reworded',
  'bound_reached',
  'plan_refused',
  'stopped',
]);
