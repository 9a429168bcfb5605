import { type Settings, TIERS, z } from '@cinnabar/sdk';

const whole = (least: number, most: number, fallback: number, what: string) =>
  z.number().int().min(least).max(most).default(fallback).describe(what);

const global = z.object({
  maxRunning: whole(1, 500, 20, 'How many tasks may work at the same time, in all servers together'),
  keepEnded: whole(0, 10_000, 200, 'How many ended tasks are kept for the list and their details'),
});

const guild = z.object({
  maxSteps: whole(1, 500, 50, 'How many times one task may ask the model'),
  maxMinutes: whole(1, 1_440, 30, 'For how many minutes one task may work; waiting for people does not count'),
  stepDelayMs: whole(0, 60_000, 1_000, 'Milliseconds between two steps of a task'),
  maxTokens: whole(1_000, 100_000_000, 1_000_000, 'How many tokens one task may use').meta({ ceiling: 5_000_000 }),
  maxUsd: z
    .number()
    .min(0)
    .max(10_000)
    .default(5)
    .describe('How many US dollars one task may cost')
    .meta({ ceiling: 20 }),
  warnAt: z.number().min(0.1).max(1).default(0.8).describe('At which part of its tokens or dollars a task warns'),
  maxIdenticalCalls: whole(2, 50, 12, 'A task whose same call returns the same so often in a row is ended'),
  maxIdleSteps: whole(2, 100, 8, 'A task that only repeats itself for so many steps is ended'),
  maxErrors: whole(1, 50, 5, 'A task in which so much fails in a row is ended'),
  perMember: whole(1, 100, 2, 'How many tasks of one member may work at the same time'),
  perGuild: whole(1, 500, 5, 'How many tasks of this server may work at the same time'),
  maxOpen: whole(1, 1_000, 10, 'How many tasks one member may have open, waiting ones included'),
  maxOpenInGuild: whole(1, 10_000, 200, 'How many tasks of this server may be open, waiting ones included'),
  approvalHours: whole(1, 168, 24, 'For how many hours a request for approval of a task waits for its decision'),
  notify: z
    .enum(['thread', 'dm', 'none'])
    .default('thread')
    .describe(
      'How a member learns that their task has ended or waits for them: a ping in its thread, a direct message',
    ),
  contextTokens: whole(2_000, 1_000_000, 40_000, 'From how many tokens on what a task remembers is compacted'),
  controlTier: z
    .enum(TIERS)
    .default('mod')
    .describe("From which tier on others may stop, pause and look into a member's task"),
  answerTier: z
    .enum(TIERS)
    .default('guildOwner')
    .describe(
      "From which tier on others may answer a task's question, speak to it, and continue it; its tools need their rights, too",
    ),
  threads: z.boolean().default(true).describe('Whether tasks work in threads of their own where they can'),
});

export const settings = { global, guild };
export type TaskSettings = Settings<typeof settings>;
/** The settings of a guild; in a direct message the defaults apply. */
export type Rules = z.output<typeof guild>;
export type HostRules = z.output<typeof global>;
