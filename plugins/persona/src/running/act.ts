import { messageLink } from 'discord.js';
import { nextBatch } from '../planning/sequence.js';
import { carryOutAll } from './batch.js';
import { type ActParts, beginCourse, type Course, extendCourse, type Stop, takeIn } from './course.js';
import { assertGoing } from './going.js';

const UNUSABLE = 'I could not make up my mind about that. Please say it again, or put it differently.';
const NO_ROOM = 'I did not get to an answer: my plan was longer than I may go on for. Please ask for less at once.';
const CIRCLES = 'I was going round in circles, so I stopped. Please put it differently.';
const WORDLESS = 'I could not find the words for an answer. Please try again.';

/**
 * Plans, then carries out action by action, extending the plan where it wants that. Always ends: every round counts against a bound.
 * Resolves with a sentence for whoever was to be answered, where the persona wanted to speak or plan and could not.
 */
export async function act(parts: ActParts): Promise<string | undefined> {
  const { planner, teller } = parts;
  const answer = await planner.plan();
  if (answer.kind === 'bound') {
    teller.system('bound_reached', answer.message);
    return NO_ROOM;
  }
  if (answer.kind === 'malformed') {
    teller.system('plan_refused', answer.detail);
    return UNUSABLE;
  }
  const course = beginCourse(answer.value, parts);
  while (course.queue.length > 0) {
    const stop = await nextStep(course, parts);
    if (stop === 'repetition') return parts.hasSpoken() ? undefined : saidAlready(course, parts);
    if (stop !== undefined) return stop === 'bound' && wantsToSpeak(course) ? NO_ROOM : undefined;
  }
  return course.wordless ? WORDLESS : undefined;
}

/** Carries out the next batch. Says why the run has to stop, if it has. */
async function nextStep(course: Course, parts: ActParts): Promise<Stop | undefined> {
  const { limits, teller, completed, run } = parts;
  assertGoing(run.signal);
  const room = Math.max(0, limits.maxActions - completed.length);
  const batch = nextBatch(course.queue).slice(0, room);
  if (batch.length === 0) {
    teller.system('bound_reached', `${limits.maxActions} actions are the limit for one run`);
    return 'bound';
  }
  const ends = await carryOutAll(batch, parts);
  const stops = ends.map((carried, index) => takeIn(carried, batch[index], course, parts));
  const stop = stops.find((one) => one !== undefined);
  if (stop === 'repetition' && course.repeated?.kind === 'loop' && !parts.hasSpoken()) {
    // Thinking in circles is no reason to leave a question without an answer.
    const speech = course.queue.slice(batch.length).filter(({ action }) => action.telling === 'speech');
    if (speech.length === 0) return stop;
    Object.assign(course, { queue: speech, extensible: false });
    return undefined;
  }
  if (stop !== undefined) return stop;
  course.queue = course.queue.slice(batch.length);
  if (course.stale) course.queue = course.queue.map((planned) => ({ ...planned, result: undefined }));
  course.stale = false;
  await extendCourse(course, parts);
  return undefined;
}

/** For the person who was to be answered, where all that was left to say had been said: silence would be no answer. */
function saidAlready({ repeated, queue, extensible }: Course, { run }: ActParts): string | undefined {
  if (repeated === undefined) return undefined;
  if (repeated.kind === 'loop') return extensible || wantsToSpeak({ queue }) ? CIRCLES : undefined;
  const { guildId, channelId } = run.place;
  const line = run.lines.findLast(({ userId, text }) => userId === null && text.startsWith(repeated.earlier));
  const [messageId] = line?.messageIds ?? [];
  if (messageId === undefined) return 'I have just told you that.';
  return `I have just told you that: ${guildId === null ? messageLink(channelId, messageId) : messageLink(channelId, messageId, guildId)}`;
}

function wantsToSpeak({ queue }: Pick<Course, 'queue'>): boolean {
  return queue.some(({ action }) => action.telling === 'speech');
}
