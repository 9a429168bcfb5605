import { type PersonaChain, type PersonaTrigger, z } from '@cinnabar/sdk';
import type { Action } from '../actions/action.js';
import type { Answer } from '../running/model-calls.js';
import type { ActiveRun } from '../running/run.js';

const step = z.object({
  action: z.string().describe('Name of an action or chain'),
  context: z.string().default('').describe('What it should focus on here'),
  result: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('The result already, in the form that the action states; null where it depends on what comes before'),
});
/** An action that is planned. */
type Step = z.output<typeof step>;

/** What a planner answers. Names and results are looked at later: one that is wrong must not spoil the others. */
const planSchema = z.object({
  reasoning: z.string().default('').describe('Why this sequence, in a sentence or two'),
  actions: z.array(step).describe('In the order in which to carry them out; empty to do nothing'),
  can_extend: z.boolean().default(false).describe('Whether I may want to add actions when I see what comes of these'),
});
export type Plan = z.output<typeof planSchema>;

/** Asks what to do about what has happened. One call plans several actions, and may carry their results. */
export const askForPlan = (active: ActiveRun): Promise<Answer<Plan>> =>
  ask(active, 'plan', QUESTIONS[active.context.run.trigger.type]);

/** Asks what to do beside, now that some of it is done. */
export const askForExtension = (active: ActiveRun): Promise<Answer<Plan>> =>
  ask(
    active,
    'extension',
    'I have done what stands in <done>, and the rest of my plan is still to come. Which actions, if any, do I add at its end? An empty list adds none; can_extend says whether I want to be asked again.',
  );

async function ask(active: ActiveRun, name: string, question: string): Promise<Answer<Plan>> {
  const { images } = active.context.attachments;
  const prompt = await active.prompt(question);
  return active.ask({ name, schema: planSchema, system: active.system, prompt, images });
}

const QUESTIONS: Readonly<Record<PersonaTrigger['type'], string>> = {
  user_input: 'What do I do next?',
  tool_result: 'What do I do next? Whoever asked may have seen the result already.',
  timer: 'Do I do anything of my own accord? Mostly I do not speak.',
  self_reflection:
    'What follows from it for me? I use REFLECT to keep what I conclude; there is mostly no need to speak.',
  reaction: 'What do I make of it? There is mostly no need to speak.',
  member_joined: 'Do I welcome them, and how?',
};

/** An action that is going to be carried out. */
export interface PlannedAction {
  readonly action: Action;
  readonly context: string;
  /** As the plan has it; looked at when the action's turn comes. */
  readonly result: unknown;
}

interface Sequence {
  readonly planned: readonly PlannedAction[];
  /** Names of what there is no action for. */
  readonly dropped: readonly string[];
  /** How many were left out because there were too many. */
  readonly surplus: number;
}

const MAX_NAMED = 5;
const MAX_CONTEXT = 2_000;

/**
 * What a plan comes to: chains written out, unknown names dropped, no more than `most`, nothing after the end, each action after those that it
 * depends on.
 * @param completed names of what has been carried out already
 */
export function toSequence(
  steps: readonly Step[],
  { actions, chains }: { readonly actions: readonly Action[]; readonly chains: readonly PersonaChain[] },
  most: number,
  completed: readonly string[] = [],
): Sequence {
  const byName = new Map(actions.map((action) => [action.name, action]));
  const chainByName = new Map(chains.map((chain) => [chain.name, chain.actions]));
  const planned: PlannedAction[] = [];
  const dropped: string[] = [];
  let surplus = 0;
  for (const { action: named, context, result } of steps) {
    const name = named.trim().toUpperCase();
    const chain = chainByName.get(name);
    for (const part of chain ?? [name]) {
      const action = byName.get(part);
      if (planned.length >= most) surplus += 1;
      else if (action !== undefined)
        planned.push({
          action,
          context: context.slice(0, MAX_CONTEXT),
          result: chain === undefined ? result : undefined,
        });
      else if (chain === undefined && dropped.length < MAX_NAMED) dropped.push(named.slice(0, 40));
    }
  }
  return { planned: inOrder(untilEnd(planned), completed), dropped, surplus };
}

function untilEnd(planned: readonly PlannedAction[]): readonly PlannedAction[] {
  const end = planned.findIndex(({ action }) => action.kind === 'end');
  return end < 0 ? planned : planned.slice(0, end + 1);
}

/** Stable: an action moves back only as far as it must. Where actions wait for one another, the plan's order holds. */
function inOrder(planned: readonly PlannedAction[], completed: readonly string[]): readonly PlannedAction[] {
  const ordered: PlannedAction[] = [];
  const done = new Set(completed);
  let left = [...planned];
  while (left.length > 0) {
    const waiting = new Set(left.map(({ action }) => action.name));
    const isReady = ({ action }: PlannedAction) =>
      action.after.every((name) => name === action.name || done.has(name) || !waiting.has(name));
    // The end stays the end.
    const next = left.find((one) => isReady(one) && (one.action.kind !== 'end' || left.length === 1)) ?? left[0];
    if (next === undefined) break;
    ordered.push(next);
    done.add(next.action.name);
    left = left.filter((one) => one !== next);
  }
  return ordered;
}

/** The next actions: one, or several neighbours that may be carried out at the same time. */
export function nextBatch(planned: readonly PlannedAction[]): readonly PlannedAction[] {
  const batch: PlannedAction[] = [];
  for (const one of planned) {
    const names = batch.map(({ action }) => action.name);
    const fits =
      one.action.parallel && !names.includes(one.action.name) && !one.action.after.some((name) => names.includes(name));
    if (batch.length > 0 && !fits) break;
    batch.push(one);
    if (!one.action.parallel) break;
  }
  return batch;
}
