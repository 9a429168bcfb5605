import { type TaskInfo, tokensOf } from '@cinnabar/sdk';
import type { Task } from '../model/task.js';

const SECOND_MS = 1_000;

/** `1 h 2 min`, `3 min 4 s`, `5 s`. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / SECOND_MS);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

/** `$0.0031`, `$1.25`; nothing where no price is known. */
export function dollars(cost: number | null): string | undefined {
  if (cost === null) return undefined;
  return `$${cost === 0 || cost >= 0.1 ? cost.toFixed(2) : cost.toPrecision(2)}`;
}

/** Steps, time, tokens and cost in one line. */
export function figures(task: Pick<Task, 'stepCount' | 'workedMs' | 'usage' | 'cost'>): string {
  return line(task.stepCount, task.workedMs, tokensOf(task.usage), task.cost);
}
export const figuresOfInfo = ({ stepCount, workedMs, tokens, cost }: TaskInfo): string =>
  line(stepCount, workedMs, tokens, cost);

function line(steps: number, workedMs: number, tokens: number, cost: number | null): string {
  return [
    `${steps} ${steps === 1 ? 'step' : 'steps'}`,
    duration(workedMs),
    `${tokens.toLocaleString('en-US')} tokens`,
    dollars(cost),
  ]
    .filter((part) => part !== undefined)
    .join(' · ');
}
