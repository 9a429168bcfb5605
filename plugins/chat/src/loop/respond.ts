import {
  costOf,
  type LlmCompletion,
  linkSignals,
  type RenderedRequest,
  receiptLine,
  type Turn,
  UserError,
} from '@cinnabar/sdk';
import type { LoopParts } from './parts.js';
import { reasonFor, workDetailsOf } from './receipt.js';
import { prepare } from './request.js';
import { runRounds } from './rounds.js';
import { createSpeech, createVoice } from './sending/reply.js';
import type { Invoked } from './tools/invoke.js';
import { rememberCall } from './tools/records.js';

/** Answers a turn and those that waited with it. @throws UserError, or a CinnabarError of the language model, for `ai` to tell */
export async function respond(turn: Turn, parts: LoopParts): Promise<void> {
  const { llm } = parts;
  if (llm === undefined) throw new UserError(NO_MODEL);
  const { signal, release } = linkSignals(turn.signal, parts.signal);
  await answer(turn, { ...parts, llm, signal }).finally(release);
}

/** The request that would be the turn's first, in its provider's form. @throws UserError as `respond` does */
export async function renderPrompt(turn: Turn, parts: LoopParts): Promise<RenderedRequest> {
  const { llm } = parts;
  if (llm === undefined) throw new UserError(NO_MODEL);
  const { built } = await prepare(turn, { ...parts, llm });
  return llm.render(built.request);
}

export type AnswerParts = LoopParts & { readonly llm: NonNullable<LoopParts['llm']> };

async function answer(turn: Turn, parts: AnswerParts): Promise<void> {
  const { llm, clock, log, signal } = parts;
  const { effective, built, permitted, traits, notes } = await prepare(turn, parts);
  const { config } = effective;
  parts.tellPrefill(effective, traits);
  const charge = { actor: turn.actor, responder: 'chat', trigger: reasonFor(turn), work: parts.random.id() };
  const backoff = { clock, maxMs: config.discordBackoffMax, log, signal };
  const voice = createVoice(turn, backoff);
  const speech = createSpeech(voice, {
    live: config.streaming && turn.message !== null,
    // Others who were to be answered with it are answered anew.
    leavesStopped: turn.earlier.length === 0,
    clock,
    log,
    signal,
  });
  const about = { channelId: turn.channel.id, messageId: turn.message?.id ?? null };
  const { trigger, user } = turn;
  log.info('activation', { ...about, trigger, userId: user.id, messages: built.facts.messages });
  let askedAt = clock.now();
  const completions: LlmCompletion[] = [];
  const used: Invoked[] = [];
  const told = [...notes];
  try {
    await runRounds(built.request, {
      turn,
      llm,
      charge,
      tools: parts.tools,
      provenance: parts.provenance,
      permitted,
      speech,
      maxToolDepth: config.maxToolDepth,
      signal,
      async onCompletion(completion) {
        completions.push(completion);
        const { model, usage, stopReason } = completion;
        const usd = traits.price === undefined ? null : costOf(usage, traits.price);
        log.info('completion', { ...about, model, ...usage, usd, ms: clock.now() - askedAt, stopReason });
        // What is remembered is written before the answer is announced.
        if (completions.length === 1) await parts.memories.save(turn.channel.id, built.memory);
      },
      async onInvoked(invoked) {
        used.push(...invoked);
        for (const { use, outcome } of invoked) log.info('tool call', { ...about, tool: use.name, outcome });
        askedAt = clock.now();
        const note = config.toolOutputVisible ? await parts.toolOutput.show(turn, invoked, backoff) : undefined;
        if (note === undefined || told.includes(note)) return;
        told.push(note);
        log.warn(note, { channelId: turn.channel.id });
      },
      onHeld: ({ callId, use, afterId, step }) =>
        rememberCall(parts.calls, turn.channel.id, {
          callId,
          tool: use.name,
          input: use.input,
          userId: turn.actor.userId,
          afterId: afterId ?? built.memory.previousTailId ?? '0',
          step,
        }),
    });
  } finally {
    const work = { messageIds: voice.sentIds, completions, built, effective, tools: used, notes: told };
    const receipt = await llm.finishWork(charge, workDetailsOf(work));
    if (config.receipts && receipt !== undefined && !signal.aborted) await voice.say(receiptLine(receipt), 'notice');
  }
}

const NO_MODEL =
  'No language model is set up, so I cannot answer. The owner of the bot can load the `llm` plugin and configure one.';
