import { type TaskInfo, tokensOf } from '@cinnabar/sdk';
import { isFinal } from './status.js';
import type { Task } from './task.js';

/** A task as others see it. @param place among those that wait for room, from 1 */
export function infoOf(task: Task, place: number | undefined): TaskInfo {
  const { id, actor, origin, status, prompt, stepCount, cost, createdAt, endedAt, workedMs, question, ending } = task;
  const asked = question !== undefined && question.answer === undefined && !isFinal(status) ? question : undefined;
  return {
    id,
    actor: { ...actor },
    origin,
    status,
    originalPrompt: prompt,
    channelId: task.workId ?? actor.channelId,
    link: linkTo(task),
    stepCount,
    tokens: tokensOf(task.usage),
    cost,
    startedAt: createdAt,
    endedAt,
    workedMs,
    place: status === 'queued' ? place : undefined,
    pendingQuestion: asked === undefined ? undefined : { text: asked.text, choices: [...asked.choices] },
    currentTool: currentToolOf(task),
    ending: ending?.text,
    unknowns: [...task.unknowns],
  };
}

/** To its status message. */
export function linkTo({ actor, statusId }: Pick<Task, 'actor' | 'statusId'>): string | undefined {
  if (statusId === undefined) return undefined;
  return `https://discord.com/channels/${actor.guildId ?? '@me'}/${actor.channelId}/${statusId}`;
}

/** The call that has been begun and is not over. */
function currentToolOf({ step, status }: Task): string | undefined {
  if (status !== 'tool_executing' && status !== 'waiting_approval') return undefined;
  return step?.calls.find(({ state }) => state === 'begun')?.name;
}
