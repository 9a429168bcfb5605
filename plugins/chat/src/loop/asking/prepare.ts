import { budgetRefusal, type ModelTool, type ModelTraits, type Turn, UserError } from '@cinnabar/sdk';
import type { EffectiveConfig } from '../../config/types.js';
import { selfName } from '../../context/reading/names.js';
import type { BuiltContext } from '../../context/types.js';
import type { AnswerParts } from '../respond.js';
import { offeredTools } from '../tools/offered.js';
import { recordsOf } from '../tools/records.js';
import { mentionNames } from './mentions.js';
import { assertReadable } from './permissions.js';
import { systemPrompt } from './prompt.js';
import { commandRemover, questionOf, speakerOf, upTo, withEarlier } from './question.js';
import { attributed } from './sent-for.js';

export interface Prepared {
  readonly effective: EffectiveConfig;
  readonly built: BuiltContext;
  /** The tools that may run for everyone who is answered, declared or not. */
  readonly permitted: readonly ModelTool[];
  readonly traits: ModelTraits;
  readonly notes: readonly string[];
}

/** Everything that precedes the request: configuration, budget, history, tools, context. Changes nothing. */
export async function prepare(turn: Turn, parts: AnswerParts): Promise<Prepared> {
  const { channel, actor, guild } = turn;
  assertReadable(turn);
  const effective = await parts.config.forChannel(channel);
  const { config } = effective;
  const askers = [...turn.earlier, turn].map((one) => one.actor);
  const decision = await parts.accounts?.check(actor);
  if (decision?.allowed === false) throw new UserError(budgetRefusal(decision));

  const memory = await parts.memories.load(channel.id);
  const read = await parts.history.window(channel, {
    limit: config.recencyWindow,
    readers: askers,
    historyRoles: config.historyRoles,
    backoffMaxMs: config.discordBackoffMax,
    signal: parts.signal,
    ...(memory.anchorId === undefined ? {} : { from: memory.anchorId }),
  });
  const all = withEarlier(read, turn);
  const messages = await attributed(all.messages, parts.origins, guild);
  const window = upTo({ ...all, messages }, turn);
  const me = channel.client.user;
  const self = { id: me.id, name: guild?.members.me?.displayName ?? me.displayName };
  const traits = await parts.llm.traits(config.continuationModel);
  const { declared, permitted } = await offeredTools(parts.tools, turn, config, traits);
  const usable = new Set(permitted.map(({ name }) => name));
  const question = questionOf(turn, window);
  const built = await parts.buildContext({
    self,
    system: systemPrompt(selfName(config.innerName, self.name), channel, config),
    window,
    tools: declared,
    records: await recordsOf(parts, channel.id, window, usable, askers),
    images: parts.images,
    textFiles: parts.textFiles,
    config,
    traits,
    memory,
    now: parts.clock.now(),
    mentions: await mentionNames(turn, window.messages, parts.access),
    withoutCommand: commandRemover(parts.prefixes.get(actor.guildId)),
    ...(question === undefined ? {} : { question }),
    ...(turn.trigger === 'continue' ? { goesOnFor: speakerOf(turn) } : {}),
  });
  const isSet = (key: string) => effective.origin[key] !== 'default';
  const request = {
    ...built.request,
    fallbacks: config.fallbackModels,
    // What nobody has configured for the chat is as `llm` itself is set.
    ...(isSet('llmTimeoutMs') ? { timeoutMs: config.llmTimeoutMs } : {}),
    ...(isSet('llmRetries') ? { retries: config.llmRetries } : {}),
  };
  return { effective, built: { ...built, request }, permitted, traits, notes: window.notes };
}
