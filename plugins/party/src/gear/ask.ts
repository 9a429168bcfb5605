import {
  CinnabarError,
  type Llm,
  type LlmCompletion,
  type ParticipantMessage,
  sentenceOf,
  UserError,
} from '@cinnabar/sdk';
import type { Character } from '../roster/characters.js';
import { type Distribution, distributionSchema } from './distribution.js';
import { INSTRUCTIONS, lootMessage, QUARTERMASTER, repairMessages } from './prompt.js';
import { findProblems } from './verify.js';

interface LootRequest {
  readonly characters: readonly Character[];
  readonly lootDescription: string;
  readonly signal: AbortSignal;
}

interface Answer {
  /** As the model gave it, to be quoted back at it. */
  readonly text: string;
  readonly distribution: Distribution | undefined;
}

const NO_ANSWER = 'I could not work out who should get what:';
const TRIES = 2;

/**
 * Asks the model who gets what, and believes only an answer that can be verified; one that cannot is sent back once.
 * @throws UserError a sentence for the member when the model fails
 */
export async function askForDistribution(llm: Llm, request: LootRequest): Promise<Distribution> {
  const names = request.characters.map(({ name }) => name);
  let messages: readonly ParticipantMessage[] = [lootMessage(request.characters, request.lootDescription)];
  for (let left = TRIES; left > 0; left--) {
    const { distribution, text } = await answerTo(llm, messages, request.signal);
    const problems =
      distribution === undefined
        ? ['It is not the JSON object that was asked for.']
        : findProblems(distribution, request.lootDescription, names);
    if (distribution !== undefined && problems.length === 0) return distribution;
    messages = [...messages, ...repairMessages(text, problems)];
  }
  throw new UserError(
    `${NO_ANSWER} the language model's answer did not add up. Please try again, or describe the loot as a plain list.`,
  );
}

async function answerTo(llm: Llm, messages: readonly ParticipantMessage[], signal: AbortSignal): Promise<Answer> {
  try {
    const completion = await llm.complete({
      self: QUARTERMASTER,
      system: INSTRUCTIONS,
      messages,
      output: { name: 'gear_distribution', schema: distributionSchema },
      signal,
    });
    const { data } = distributionSchema.safeParse(completion.structured);
    return { distribution: data, text: textOf(completion) };
  } catch (error) {
    if (error instanceof CinnabarError && error.code === 'CINNABAR_LLM_MALFORMED') {
      return { distribution: undefined, text: '(not readable)' };
    }
    const sentence = sentenceOf(error) ?? 'the language model failed.';
    throw new UserError(`${NO_ANSWER} ${sentence}`, { cause: error });
  }
}

/** Never empty: providers refuse a turn without content. */
function textOf({ content, structured }: LlmCompletion): string {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  if (text.trim() !== '') return text;
  return structured === undefined ? '(no answer)' : JSON.stringify(structured);
}
