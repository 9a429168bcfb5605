import {
  answerMessages,
  CinnabarError,
  type CompletedAction,
  type Profile,
  sendText,
  sentenceOf,
  TEXT_LIMITS,
  type TextLimits,
  type Turn,
  t,
} from '@cinnabar/sdk';
import type { Message, SendableChannels } from 'discord.js';
import type { PreparedAction } from '../actions/action.js';
import type { PersonaContext } from '../context.js';
import { inert } from '../conversation/render.js';
import type { EventEmitter } from './events.js';
import type { PlannedAction } from './plan.js';
import type { Answer } from './prompt.js';
import { actionLoop, type RepetitionPattern, repeatedSpeech } from './repetition.js';
import type { ActiveRun } from './run.js';
import type { RunContext, TriggerContext } from './run-context.js';

/** How an action ended. */
export type ActionOutcome =
  | {
      readonly kind: 'done';
      readonly completed: CompletedAction;
      /** The repetition that the rewording avoided. */
      readonly insteadOf?: RepetitionPattern | undefined;
    }
  /** The action failed; the run continues. */
  | { readonly kind: 'failed'; readonly completed: CompletedAction }
  | { readonly kind: 'end' }
  | { readonly kind: 'repetition'; readonly pattern: RepetitionPattern }
  | { readonly kind: 'bound'; readonly message: string };

/** Number of completed actions from which on loops are possible. */
const LEAST_FOR_LOOPS = 2;
/** How long an earlier text to the same person counts as repeated. */
const LATELY_MS = 10 * 60_000;

/** Executes one action: checks for loops, gets its result, checks for repetition, carries it out, emits its events. @throws when the run was cancelled */
export async function executeAction(
  planned: PlannedAction,
  toolId: string,
  active: ActiveRun,
  emitter: EventEmitter,
): Promise<ActionOutcome> {
  const { action } = planned;
  if (action.kind === 'end') return { kind: 'end' };
  if (active.completed.length >= LEAST_FOR_LOOPS) {
    const loop = actionLoop(active.completed, { action: action.name, context: planned.context });
    if (loop !== undefined) return { kind: 'repetition', pattern: loop };
  }
  if (action.kind === 'tool') emitter.started(toolId, action.name, planned.context);
  try {
    const outcome = await perform(planned, active);
    emitEnd(outcome, planned, toolId, emitter);
    return outcome;
  } catch (error) {
    if (action.kind === 'tool') emitter.finished(toolId, action.name, t('not done: the run broke off'), true);
    throw error;
  }
}

async function perform(planned: PlannedAction, active: ActiveRun): Promise<ActionOutcome> {
  const { turn, completed, log } = active;
  const answer = await resultOf(planned, active);
  if (answer.kind === 'bound') return answer;
  if (answer.kind === 'malformed') return failed(planned, 'I could not put it into words');
  const pattern = repetitionIn(answer.value, active);
  let prepared = answer.value;
  if (pattern !== undefined) {
    const other = await reworded(planned, prepared, pattern, active);
    if (other === undefined) return { kind: 'repetition', pattern };
    prepared = other;
  }
  const { name } = planned.action;
  assertNotCancelled(turn.signal);
  try {
    const summary = await prepared.execute({ ...turn, completed: [...completed], context: planned.context });
    return { kind: 'done', completed: { action: name, context: planned.context, summary }, insteadOf: pattern };
  } catch (error) {
    if (turn.signal.aborted) throw error;
    const sentence = sentenceOf(error);
    if (sentence === undefined) log.error('an action of a persona failed', { action: name, error });
    return failed(planned, sentence ?? 'something went wrong inside');
  }
}

/** The result in the plan if it is valid, otherwise one that the model is asked for now. */
async function resultOf(planned: PlannedAction, active: ActiveRun): Promise<Answer<PreparedAction>> {
  const { action, result } = planned;
  const isEmpty = Object.keys(action.result.shape).length === 0;
  const isOpen = result === undefined || result === null;
  const written = isEmpty ? action.prepare({}) : isOpen ? undefined : action.prepare(result);
  if (written !== undefined) return { kind: 'answer', value: written };
  return ask(planned, active, '');
}

/**
 * Asks for the text in other words, or for a remark that it was said already, so that a question does not stay without an answer. `undefined` when the new text
 * is a repetition, too, or when the run has posted a text before.
 */
async function reworded(
  planned: PlannedAction,
  { words = '' }: PreparedAction,
  { earlier }: RepetitionPattern,
  active: ActiveRun,
): Promise<PreparedAction | undefined> {
  if (active.sender.texts.length > 0) return undefined;
  const instruction = `I was about to say ${inert(words)}, but that repeats what I have just said: ${inert(earlier)}. I put it another way, or remind them briefly that I have said it.\n`;
  const answer = await ask(planned, active, instruction);
  if (answer.kind !== 'answer' || repetitionIn(answer.value, active) !== undefined) return undefined;
  return answer.value;
}

async function ask(
  { action, context }: PlannedAction,
  active: ActiveRun,
  instruction: string,
): Promise<Answer<PreparedAction>> {
  const { name, description, result: schema } = action;
  const focus = `I carry out ${name} now (${description}). Focus: ${inert(context)}`;
  const answer = await active.ask({
    name: name.toLowerCase(),
    schema,
    system: active.system,
    prompt: await active.prompt(`${focus}\n${instruction}Its result:`),
    images: active.context.attachments.images,
  });
  if (answer.kind !== 'answer') return answer;
  const prepared = action.prepare(answer.value);
  return prepared === undefined
    ? { kind: 'malformed', detail: 'it has another form' }
    : { kind: 'answer', value: prepared };
}

function repetitionIn({ words }: PreparedAction, active: ActiveRun): RepetitionPattern | undefined {
  const { trigger } = active.turn;
  if (words === undefined) return undefined;
  return repeatedSpeech(words, recentTexts(active), trigger.type === 'user_input' ? trigger.content : '');
}

/**
 * Texts that the persona must not repeat, oldest first: those of this run and its latest ones to the answered person; without such a person, all of its texts
 * in the channel.
 */
function recentTexts({ context, sender, clock }: ActiveRun): readonly string[] {
  const { lines, speaker } = context.run;
  const own = lines.filter(({ userId, callId }) => userId === null && callId === undefined);
  const theirs =
    speaker === undefined
      ? own
      : own.filter(({ answers, at }) => answers === speaker.userId && clock.now() - at <= LATELY_MS);
  return [...theirs.map(({ text }) => text), ...sender.texts];
}

function failed({ action, context }: PlannedAction, why: string): ActionOutcome {
  return { kind: 'failed', completed: { action: action.name, context, summary: `failed: ${why}` } };
}

function emitEnd(outcome: ActionOutcome, { action }: PlannedAction, toolId: string, emitter: EventEmitter): void {
  if (outcome.kind === 'end') return;
  const isDone = outcome.kind === 'done';
  if (action.kind === 'tool') {
    emitter.finished(toolId, action.name, isDone && action.quotes ? 'done' : resultText(outcome), !isDone);
  } else if (isDone) emitter.text(outcome.completed.summary, action.kind === 'thought');
  if (outcome.kind === 'failed') emitter.system('action_failed', `${action.name}: ${outcome.completed.summary}`);
}

function resultText(outcome: Exclude<ActionOutcome, { kind: 'end' }>): string {
  switch (outcome.kind) {
    case 'repetition':
      return t('not done: {why}', { why: outcome.pattern.sentence });
    case 'bound':
      return t('not done: {why}', { why: outcome.message });
    default:
      return outcome.completed.summary;
  }
}

/** For steps without a request to the model, which would throw. @throws CINNABAR_LLM_CANCELLED */
export function assertNotCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new CinnabarError('CINNABAR_LLM_CANCELLED');
}

/** Whether an error says that a request was cancelled. */
export function isCancelled(error: unknown): boolean {
  return error instanceof CinnabarError && error.code === 'CINNABAR_LLM_CANCELLED';
}

/** Maximum number of messages for one text. */
const MOST_MESSAGES = 4;

/** Sends one text to a channel. @param onSent called for each message after it was sent, because a later one may fail */
export type SendText = (text: string, onSent: (message: Message) => void) => Promise<void>;

/** Sends the texts of a turn: the first message is a reply, and only the answered member can be pinged. */
export function answer({ reply, answerLimits }: Pick<Turn, 'reply' | 'answerLimits'>): SendText {
  return async (text, onSent) => {
    for (const { content, files = [] } of messagesOf(text, answerLimits)) onSent(await reply({ content, files }));
  };
}

interface PostOptions {
  /** The message to reply to. */
  readonly replyTo?: string | undefined;
  /** Name and picture for a webhook; the author of the answered message is pinged instead of replied to. */
  readonly profile?: Profile;
  readonly limits?: TextLimits | undefined;
}

/** Sends texts without a turn. Texts under the bot's own name ping no member. */
export function post(
  channel: SendableChannels,
  { clock, random }: Pick<PersonaContext, 'clock' | 'random'>,
  { replyTo, profile, limits }: PostOptions = {},
): SendText {
  let repliesTo = replyTo;
  return async (text, onSent) => {
    const options = {
      clock,
      replyTo: repliesTo,
      onSent,
      allowedMentions: { parse: [], repliedUser: profile !== undefined },
      ...(profile === undefined ? {} : { profile }),
    };
    repliesTo = undefined;
    await sendText(channel, messagesOf(text, limits), random.id(), options);
  };
}

const messagesOf = (text: string, { messages, characters }: TextLimits = TEXT_LIMITS) =>
  answerMessages(text, { limits: { characters, messages: Math.min(messages, MOST_MESSAGES) } });

/** Uses the persona's name and picture if the guild's settings say so; a slash command is always answered under the bot's name. */
function senderFor({ run, settings }: RunContext, triggered: TriggerContext, persona: PersonaContext): SendText {
  const { channel, trigger, send, sending = (message) => message, limits } = triggered;
  const messageId = 'messageId' in trigger ? trigger.messageId : undefined;
  if (!settings.ownName || channel.isDMBased() || (trigger.type === 'user_input' && messageId === null)) return send;
  const isAnswer = trigger.type === 'user_input' || trigger.type === 'tool_result';
  const profile = { name: run.self, avatarUrl: settings.avatar };
  const posting = post(channel, persona, {
    profile,
    replyTo: isAnswer ? (messageId ?? undefined) : undefined,
    limits,
  });
  return (text, onSent) => sending(posting(text, onSent));
}

export type MessageSender = ReturnType<typeof createMessageSender>;

/** Sends the texts of a run, and adds them to the conversation. */
export function createMessageSender(context: RunContext, triggered: TriggerContext, persona: PersonaContext) {
  const { place, self, speaker } = context.run;
  const send = senderFor(context, triggered, persona);
  const texts: string[] = [];
  const messageIds: string[] = [];
  const keep = async (text: string, sent: readonly Message[]) => {
    const ids = sent.map(({ id }) => id);
    texts.push(text);
    messageIds.push(...ids);
    const at = sent.at(-1)?.createdTimestamp ?? persona.clock.now();
    const answers = speaker === undefined ? {} : { answers: speaker.userId };
    const line = { messageIds: ids, userId: null, ...answers, displayName: self, username: '', text, at };
    await persona.conversations.add(place.channelId, [line]);
  };
  return {
    async say(text: string): Promise<void> {
      const sent: Message[] = [];
      let said = '';
      try {
        await send(text, (message) => void sent.push(message));
        said = text;
      } finally {
        // After an error, the parts that were sent still count.
        if (sent.length > 0) await keep(said || sent.map(({ content }) => content).join('\n'), sent);
      }
    },
    /** The texts that were sent so far. */
    texts,
    messageIds,
  };
}
