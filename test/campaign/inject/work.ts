import { callTools } from '@cinnabar/local-models';
import { type TaskInfo, Tasks } from '@cinnabar/sdk';
import { differences } from './expected.js';
import type { Talk } from './talk.js';
import { readRequest } from './transcript.js';

const QUESTION = 'Shall I go on?';

/** A member with a hostile name gives the bot a task; it calls a tool, asks the member, and ends. @returns differences between its requests and the messages */
export async function playTask({ harness, decks, dice }: Omit<Talk, 'guild'>): Promise<readonly string[]> {
  const { guild, resolve } = harness.host;
  const channel = guild.createChannel({ name: 'work' });
  const mallory = harness.newcomer(guild, dice.chance(0.8) ? decks.draw('nickname').text : null);
  const actor = { userId: mallory.id, guildId: guild.id, channelId: channel.id };
  const goal = `${dice.pick(['', 'so\n'])}${decks.draw('goal').text}`;
  const input = { shelf: decks.draw('arguments').text };
  harness.shelf = decks.draw('tool result').text;
  const answer = decks.draw('answer').text;
  const tasks = resolve(Tasks);
  const requests = await harness.during(
    async () => {
      const asked = next(tasks, ({ pendingQuestion }) => pendingQuestion !== undefined);
      mallory.say(channel, `!task ${goal}`);
      const { id } = await asked;
      const over = next(tasks, ({ status }) => status === 'completed');
      await harness.host.settled();
      await tasks.answer(id, answer, actor);
      await over;
    },
    callTools([{ name: 'look', arguments: input }]),
    callTools([{ name: 'ask_user', arguments: { question: QUESTION } }]),
    callTools([{ name: 'task_complete', arguments: { summary: 'It is done.' } }]),
  );
  const truths = [
    { kind: 'spoken', speaker: mallory.id, text: `My task for you: ${goal}`, notes: [] },
    { kind: 'call', tool: 'look', input },
    { kind: 'result', tool: 'look', text: harness.shelf },
    { kind: 'call', tool: 'ask_user', input: { question: QUESTION } },
    { kind: 'result', tool: 'ask_user', text: `The user answered: ${answer}` },
  ] as const;
  const wrong = requests.length === 3 ? [] : [`${requests.length} requests instead of 3`];
  return [
    ...wrong,
    ...requests.flatMap(({ body }, index) => {
      const request = readRequest(body, harness.host.bot.name);
      const isSelf = /^You are Cinnabar, an assistant on Discord that works on a task for one of the members\.\n/u;
      return [
        ...differences(request, truths.slice(0, 1 + 2 * index)),
        ...(isSelf.test(request.system)
          ? []
          : [`the system prompt is ${JSON.stringify(request.system.slice(0, 200))}`]),
      ];
    }),
  ];
}

/** Resolves with the next task that satisfies the condition. */
function next(tasks: Tasks, is: (task: TaskInfo) => boolean): Promise<TaskInfo> {
  return new Promise((resolve) => {
    const stop = tasks.onUpdate((task) => {
      if (!is(task)) return;
      stop();
      resolve(task);
    });
  });
}
