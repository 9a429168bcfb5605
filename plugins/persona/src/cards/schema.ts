import { z } from '@cinnabar/sdk/worker';

/** Missing and `null` are the same as empty; anything else that is no text is refused. */
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const texts = z
  .array(z.string())
  .nullish()
  .transform((value) => value ?? []);

const common = {
  name: z.string().min(1),
  description: text,
  personality: text,
  scenario: text,
  first_mes: text,
  mes_example: text,
  creator_notes: text,
  system_prompt: text,
  post_history_instructions: text,
  alternate_greetings: texts,
  tags: texts,
  creator: text,
  character_version: text,
  /** Any JSON: looked at no closer than its size, and given back as it is. */
  extensions: z.record(z.string(), z.unknown()).nullish(),
  character_book: z.unknown().optional(),
};

/** https://github.com/malfoyslastname/character-card-spec-v2 */
const v2 = z.object({ spec: z.literal('chara_card_v2'), data: z.object(common) });

/** https://github.com/kwaroran/character-card-spec-v3 */
const v3 = z.object({
  spec: z.literal('chara_card_v3'),
  data: z.object({
    ...common,
    nickname: text,
    group_only_greetings: texts,
    source: texts,
    creator_notes_multilingual: z.record(z.string(), z.string()).nullish(),
    creation_date: z.number().nullish(),
    modification_date: z.number().nullish(),
    assets: z.unknown().optional(),
  }),
});

export const cardSchema = z.discriminatedUnion('spec', [v2, v3]);
export type Card = z.output<typeof cardSchema>;

/** What an export of this bot adds to a card, so that nothing is lost on the way to another. */
export const ownExtension = z.object({
  mood: z.object({ name: z.string(), intensity: z.number().min(0).max(10) }).optional(),
  appearance: z.string().default(''),
  environment: z.string().default(''),
  goals: z.array(z.string()).max(100).default([]),
  desires: z.array(z.string()).max(100).default([]),
});
