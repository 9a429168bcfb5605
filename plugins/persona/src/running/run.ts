import {
  budgetRefusal,
  type CompletedAction,
  createDeadline,
  type Deadline,
  type Llm,
  mostOf,
  type PersonaTrigger,
  sentenceOf,
  type ToolInfo,
  type ToolSource,
  type Turn,
  UserError,
} from '@cinnabar/sdk';
import type { TurnRun } from '../actions/action.js';
import { outcomeText } from '../actions/use-tool.js';
import type { RunParts } from '../context.js';
import { createPlanner } from '../planning/plan.js';
import { planningPrompt, type Repertoire } from '../planning/planning-prompt.js';
import { payerOf, type RunRecord, settle } from './after-run.js';
import { createTeller } from './event-emitter.js';
import { isCancelled } from './execute-action.js';
import { act } from './execute-plan.js';
import { answeringVoice, channelVoice, createSpeech, type Voice } from './message-sender.js';
import { type Ask, createAsk, createBounds, timeUp } from './model-calls.js';
import { situationOf } from './prompt-context.js';
import { type Scene, saidTo, setScene } from './run-context.js';
import { lineOfTurn, type Occasion, reasonFor, userInput } from './trigger-context.js';

const NO_MODEL =
  'No language model is set up, so I cannot think. The owner of the bot can load the `llm` plugin and configure one.';
const TOO_LONG = 'I could not make up my mind in time. Please ask again.';

type ReadyParts = RunParts & { readonly llm: Llm };

/** How a run ended, for whoever started it. */
export interface RunEnd {
  readonly spoke: boolean;
  /** For the person who was to be answered and got no word, where that was not the persona's choice. */
  readonly refusal: string | undefined;
}

/**
 * Runs a persona once: reads what it knows, plans, acts, settles.
 * @throws UserError without a model or budget, and errors of the language model before anything was said
 */
export async function runPersona(occasion: Occasion, parts: RunParts): Promise<RunEnd> {
  const { llm } = parts;
  if (llm === undefined) throw new UserError(NO_MODEL);
  return parts.channelMutex.run(occasion.channel.id, () => runOnce(occasion, { ...parts, llm }));
}

async function runOnce(occasion: Occasion, parts: ReadyParts): Promise<RunEnd> {
  const { maxSeconds } = await parts.settingsFor(occasion.guildId);
  const deadline = createDeadline(parts.clock, maxSeconds * 1_000, [occasion.signal, parts.signal]);
  try {
    const scene = await setScene(occasion, deadline.signal, parts);
    return await stage(scene, occasion, deadline, parts);
  } finally {
    deadline.end();
  }
}

async function stage(scene: Scene, occasion: Occasion, deadline: Deadline, parts: ReadyParts): Promise<RunEnd> {
  const { clock, llm, ledger, provenance, store, registry, conversations } = parts;
  const { run, settings, place } = scene;
  const { self, lines, trigger, sessionId } = run;
  const repertoire: Repertoire = {
    actions: registry.actionsIn(place.guildId).filter((action) => action.isOffered(run)),
    chains: registry.chainsIn(place.guildId),
    tools: run.tools,
  };
  const system = planningPrompt(self, repertoire);
  const completed: CompletedAction[] = [];
  const { actor, before = [] } = occasion;
  // Of its own accord it tells what everybody there may read.
  const mayShow = async (sources: readonly ToolSource[] | undefined) =>
    actor === undefined ? provenance.mayTell(sources, place) : provenance.mayShow(sources, [actor]);
  const statusOf = async (callId: string) => outcomeText(await ledger.get(callId), mayShow);
  const situation = async (question: string) =>
    situationOf(scene, (await store.read(place)).state, [...before, ...completed], question, clock.now(), statusOf);
  const release = await reserve(scene, system.length + (await situation('')).length, parts);
  const bounds = createBounds(settings, clock);
  const askPlainly = createAsk({ llm, self, bounds, settings, signal: deadline.signal });
  const ask: Ask = (asked) => askPlainly({ ...asked, images: scene.seen.images });
  const teller = createTeller(parts.hub, place, sessionId, clock);
  const { channelId } = place;
  const speech = createSpeech({
    voice: voiceFor(scene, occasion, parts),
    conversations,
    channelId,
    self,
    answers: run.speaker?.userId,
    clock,
  });
  const memoryIds = new Set(
    [...scene.recalled.map(({ memory }) => memory), ...(run.reflection?.evidence ?? [])].map(({ id }) => id),
  );
  const userIds = new Set<string>();
  const noteMemory: TurnRun['noteMemory'] = ({ id, subject, speaker }) => {
    memoryIds.add(id);
    userIds.add(subject).add(speaker);
  };
  const record: RunRecord = { scene, memoryIds, userIds, bounds, teller, speech, completed, ask: askPlainly };
  teller.system('started', reasonFor(trigger));
  try {
    const refusal = await act({
      ...parts,
      run: { ...run, say: speech.say, noteMemory },
      planner: createPlanner({ ask, system, trigger, situation }),
      repertoire,
      limits: settings,
      teller,
      completed,
      ask,
      system,
      situation,
      said: () => [...saidTo(lines, run.speaker?.userId, clock.now()).map(({ text }) => text), ...speech.texts],
      hasSpoken: () => speech.texts.length > 0,
    });
    const spoke = speech.texts.length > 0;
    if (!spoke && refusal === undefined) teller.system('silent', 'nothing was said');
    return { spoke, refusal: spoke ? undefined : refusal };
  } catch (error) {
    return brokenOff(error, record, deadline, parts);
  } finally {
    teller.system(
      'finished',
      `${completed.length} ${completed.length === 1 ? 'action' : 'actions'}, ${bounds.calls} ${bounds.calls === 1 ? 'call' : 'calls'}`,
    );
    await settle(record, parts).finally(release);
  }
}

/** Its own name and picture where the guild wants that; an answer to a slash command has to be the bot's own. */
function voiceFor({ run, settings }: Scene, { channel, trigger, voice, limits }: Occasion, parts: RunParts): Voice {
  const messageId = 'messageId' in trigger ? trigger.messageId : undefined;
  if (!settings.ownName || channel.isDMBased() || (trigger.type === 'user_input' && messageId === null)) return voice;
  const replyTo =
    trigger.type === 'user_input' || trigger.type === 'tool_result' ? (messageId ?? undefined) : undefined;
  return channelVoice(channel, { ...parts, profile: { name: run.self, avatarUrl: settings.avatar }, replyTo, limits });
}

/** What has been said and done stays; the rest is told, or thrown for whoever tells it. */
function brokenOff(
  error: unknown,
  { teller, speech, scene }: RunRecord,
  deadline: Deadline,
  { log }: RunParts,
): RunEnd {
  const spoke = speech.texts.length > 0;
  if (deadline.isUp && (isCancelled(error) || deadline.signal.aborted)) {
    teller.system('bound_reached', timeUp(scene.settings));
    return { spoke, refusal: spoke ? undefined : TOO_LONG };
  }
  teller.system('stopped', sentenceOf(error) ?? 'something went wrong inside');
  if (!spoke) throw error;
  log.warn('a run of a persona broke off', { error });
  return { spoke, refusal: undefined };
}

/** Holds room in the budgets. @throws UserError when there is none @returns gives it back */
async function reserve(
  scene: Scene,
  promptLength: number,
  { accounts, llm }: ReadyParts,
): Promise<() => Promise<void>> {
  if (accounts === undefined) return async () => undefined;
  const { maxTokens, maxCalls, maxReplyTokens, model } = scene.settings;
  const { price } = await llm.traits(model);
  const prompts = Math.min(maxTokens, Math.ceil(promptLength / 3) * maxCalls);
  const { decision, release } = await accounts.reserve(payerOf(scene), mostOf(prompts, maxReplyTokens, price));
  if (!decision.allowed) throw new UserError(budgetRefusal(decision));
  return release;
}

/** Somebody said something to the persona, and may get an answer. @throws UserError, or an error of the language model, for `ai` to tell */
export async function respond(turn: Turn, parts: RunParts): Promise<void> {
  const { conversations, clock, log } = parts;
  const { channel, actor, message } = turn;
  const trigger: PersonaTrigger = userInput(turn, clock.now());
  await conversations.add(channel.id, [lineOfTurn(turn, clock.now())]);
  const { spoke, refusal } = await runPersona(
    {
      trigger,
      channel,
      guildId: actor.guildId,
      actor,
      tools: await toolsFor(turn, parts),
      voice: answeringVoice(turn),
      limits: turn.answerLimits,
      message,
      signal: turn.signal,
    },
    parts,
  );
  if (spoke) return;
  if (refusal !== undefined) throw new UserError(refusal);
  // A slash command has to be answered, or Discord shows a failure.
  if (message === null) await turn.reply({ content: '*(says nothing)*', notice: true });
  else {
    const { silentReaction } = await parts.settingsFor(actor.guildId);
    if (silentReaction === '') return;
    await message
      .react(silentReaction)
      .catch((error: unknown) => log.debug('a silent reaction was not possible', { channelId: channel.id, error }));
  }
}

/** A bot's words move nobody's rights: people may be speaking through it. */
async function toolsFor({ user, actor }: Turn, { tools }: RunParts): Promise<readonly ToolInfo[]> {
  return user.bot ? [] : tools.offered(actor);
}
