import {
  type Charge,
  costOf,
  type Llm,
  type LlmCompletion,
  type LlmRequest,
  linkSignals,
  type ModelTool,
  type ParticipantMessage,
  type RenderedRequest,
  receiptLine,
  type StopReason,
  type Turn,
  t,
  turnEndOf,
  UserError,
} from '@cinnabar/sdk';
import type { ChatServices } from '../plugin-context.js';
import { createMessageSender, createTurnReply, type Manner, type TurnReply } from './reply.js';
import { prepare } from './request.js';
import { reasonFor, workDetailsOf } from './status.js';
import { type InvokeContext, type Invoked, invokeAll, showToolOutput } from './tool-calls.js';
import { rememberCall } from './tool-records.js';

/** Answers a turn, and earlier turns that waited. @throws UserError, or a CinnabarError of the language model, which `ai` reports */
export async function respond(turn: Turn, parts: ChatServices): Promise<void> {
  const { llm } = parts;
  if (llm === undefined) throw new UserError(noModel());
  const { signal, release } = linkSignals(turn.signal, parts.signal);
  await answer(turn, { ...parts, llm, signal }).finally(release);
}

/** The first request of a turn in its provider's format. @throws UserError as `respond` does */
export async function renderPrompt(turn: Turn, parts: ChatServices): Promise<RenderedRequest> {
  const { llm } = parts;
  if (llm === undefined) throw new UserError(noModel());
  const { built } = await prepare(turn, { ...parts, llm });
  return llm.render(built.request);
}

export type AnswerContext = ChatServices & { readonly llm: NonNullable<ChatServices['llm']> };

async function answer(turn: Turn, parts: AnswerContext): Promise<void> {
  const { llm, clock, log, signal } = parts;
  const { effective, built, permitted, traits, notes } = await prepare(turn, parts);
  const { config } = effective;
  parts.tellPrefill(effective, traits);
  const charge = { actor: turn.actor, responder: 'chat', trigger: reasonFor(turn), work: parts.random.id() };
  const backoff = { clock, maxMs: config.discordBackoffMax, log, signal };
  const sender = createMessageSender(turn, backoff);
  const reply = createTurnReply(sender, {
    streams: config.streaming && turn.message !== null,
    // If the answer is also for earlier turns, it is deleted, because their members get another one.
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
      reply,
      maxToolDepth: config.maxToolDepth,
      signal,
      async onCompletion(completion) {
        completions.push(completion);
        const { model, usage, stopReason } = completion;
        const usd = traits.price === undefined ? null : costOf(usage, traits.price);
        log.info('completion', { ...about, model, ...usage, usd, ms: clock.now() - askedAt, stopReason });
        // Stored before the text is sent.
        if (completions.length === 1) await parts.collections.memories.of(turn.channel.id).set(built.memory);
      },
      async onInvoked(invoked) {
        used.push(...invoked);
        for (const { use, outcome } of invoked) log.info('tool call', { ...about, tool: use.name, outcome });
        askedAt = clock.now();
        const note = config.toolOutputVisible ? await showToolOutput(turn, invoked, backoff) : undefined;
        if (note === undefined || told.includes(note)) return;
        told.push(note);
        log.warn(note, { channelId: turn.channel.id });
      },
      onHeld: ({ callId, use, afterId, step }) =>
        rememberCall(parts.collections.calls, turn.channel.id, {
          callId,
          tool: use.name,
          input: use.input,
          userId: turn.actor.userId,
          afterId: afterId ?? built.memory.previousTailId ?? '0',
          step,
        }),
    });
  } finally {
    const work = { messageIds: sender.sentIds, completions, built, effective, tools: used, notes: told };
    const receipt = await llm.finishWork(charge, workDetailsOf(work));
    if (config.receipts && receipt !== undefined && !signal.aborted) await sender.say(receiptLine(receipt), 'notice');
  }
}

const noModel = () =>
  t(
    'No language model is set up, so I cannot answer. The owner of the bot can load the `llm` plugin and configure one.',
  );

interface RoundsContext extends InvokeContext {
  readonly llm: Llm;
  readonly charge: Charge;
  readonly reply: TurnReply;
  readonly maxToolDepth: number;
  /** Called after each completion, before its text is sent. */
  onCompletion(completion: LlmCompletion): Promise<void>;
  /** Called after the calls of one completion. */
  onInvoked(invoked: readonly Invoked[]): Promise<void>;
}

/**
 * Lets the model write and call tools until it is finished, all its calls are deferred, or the rounds are used up. The text beside calls is sent first, so that
 * it is above their cards.
 */
async function runRounds(request: LlmRequest, parts: RoundsContext): Promise<void> {
  const { turn, llm, charge, reply, maxToolDepth, signal } = parts;
  let said: readonly ParticipantMessage[] = [];
  let lastId = turn.message?.id;
  let results: readonly Invoked[] = [];
  let tools = request.tools ?? [];
  for (let round = 0; ; round += 1) {
    const completion = await reply.listen((onText) =>
      llm.complete({
        ...withMore({ ...request, tools }, said),
        charge,
        signal,
        ...(turn.deadlineAt === undefined ? {} : { deadlineAt: turn.deadlineAt }),
        ...(onText === undefined ? {} : { onText }),
      }),
    );
    if (completion === undefined) return;
    await parts.onCompletion(completion);
    await assertWanted(parts);
    const { text, uses } = readCompletion(completion);
    lastId = (await reply.say(text)) ?? lastId;
    const remark = remarkOn(completion, results, round >= maxToolDepth ? maxToolDepth : undefined);
    if (remark !== undefined) await reply.say(remark.text, remark.manner);
    if (uses.length === 0 || round >= maxToolDepth) return;
    results = withDropped(await invokeAll(uses, lastId, parts), completion);
    await parts.onInvoked(results);
    if (results.every(({ held }) => held)) {
      // A slash command needs an answer, and a card is none.
      if (turn.message === null && lastId === undefined)
        await reply.say(t('Nothing has run yet: it waits for your 👍 on the card below.'), 'notice');
      return;
    }
    tools = withFound(tools, results);
    said = [
      ...said,
      { participant: request.self, content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...uses] },
      { participant: request.self, content: results.map(({ result }) => result) },
    ];
  }
}

/** @throws the signal's reason after a member has cancelled the answer */
async function assertWanted({ signal, reply }: RoundsContext): Promise<void> {
  if (turnEndOf(signal) === undefined) return;
  await reply.giveUp();
  throw signal.reason;
}

/** Appends found tools, so that the beginning of the request stays the same. */
function withFound(tools: readonly ModelTool[], results: readonly Invoked[]): readonly ModelTool[] {
  const found = results.flatMap((result) => result.found ?? []);
  const added = new Map(
    found.filter(({ name }) => !tools.some((tool) => tool.name === name)).map((tool) => [tool.name, tool]),
  );
  return added.size === 0 ? tools : [...tools, ...added.values()];
}

/** Inserts messages before the empty message at the end of a context. */
function withMore(request: LlmRequest, said: readonly ParticipantMessage[]): LlmRequest {
  if (request.goesOn === true && said.length > 0) {
    const { goesOn: _goesOn, ...anew } = request;
    const target = { participant: request.self, content: [{ type: 'text' as const, text: '' }] };
    return { ...anew, messages: [...request.messages, ...said, target] };
  }
  const last = request.messages.at(-1);
  const target = last !== undefined && isTarget(last) ? [last] : [];
  return {
    ...request,
    messages: [...request.messages.slice(0, request.messages.length - target.length), ...said, ...target],
  };
}

function isTarget({ content }: ParticipantMessage): boolean {
  return content.every((block) => block.type === 'text' && block.text === '');
}

/** Notes for members on a completion, besides its text. */
function remarkOn(
  completion: LlmCompletion,
  results: readonly Invoked[],
  exhausted: number | undefined,
): { readonly text: string; readonly manner: Manner } | undefined {
  const { text, uses } = readCompletion(completion);
  const notice = (sentence: string) => ({ text: sentence, manner: 'notice' as const });
  if (completion.content.some(({ type }) => type === 'malformed_tool_use'))
    return notice(t("I couldn't process that request. Please try again."));
  if (uses.length > 0) return exhausted === undefined ? undefined : notice(tooManyRounds(exhausted));
  const done = text === '' ? spoken(results) : undefined;
  if (done !== undefined) return { text: done, manner: 'word' };
  if (text === '') return notice(emptyAnswerText(completion.stopReason));
  return completion.stopReason === 'max_tokens' ? notice(t('-# My answer reached its length limit.')) : undefined;
}

function readCompletion({ content }: LlmCompletion) {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return { text: text.trim(), uses: content.filter((block) => block.type === 'tool_use') };
}

/** Adds a note for the model to the last result if it requested more calls than are allowed in one answer. */
function withDropped(results: readonly Invoked[], { droppedCalls = 0 }: LlmCompletion): readonly Invoked[] {
  const last = results.at(-1);
  if (droppedCalls === 0 || last === undefined) return results;
  const { content } = last.result;
  const note = { type: 'text' as const, text: droppedNote(droppedCalls) };
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return [...results.slice(0, -1), { ...last, result: { ...last.result, content: [...blocks, note] } }];
}

/** The results of calls for the channel, if the model writes nothing about them. */
function spoken(results: readonly Invoked[]): string | undefined {
  const texts = results.map(({ done }) => done).filter((text) => text !== undefined && text.trim() !== '');
  return texts.length === 0 ? undefined : texts.join('\n');
}

function tooManyRounds(rounds: number): string {
  return t(
    'I stopped here: {rounds, plural, one {# round} other {# rounds}} of tool calls is the limit for one answer.',
    { rounds },
  );
}

/** A note for the model. */
function droppedNote(calls: number): string {
  return `(${calls} more ${calls === 1 ? 'call was' : 'calls were'} not run: that is more than one answer may ask for. Do not claim that they ran.)`;
}

/** A sentence for members about a completion without text. */
function emptyAnswerText(reason: StopReason): string {
  if (reason === 'refusal') return t('The language model declined to answer this.');
  if (reason === 'max_tokens')
    return t('The language model reached its length limit before it said anything. Please try again.');
  return t('The language model had nothing to say to this. Please try to put it differently.');
}
