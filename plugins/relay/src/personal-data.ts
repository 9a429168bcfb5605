import type { PersonalData } from '@cinnabar/sdk';
import type { Relay } from './context.js';
import type { RelayEvent } from './events/event.js';

/** What is stored of people beside their own settings: queued messages, prompts that were sent, wake-ups that they planned. */
export function personalData({ queue, letta, collections: { wakes } }: Relay): PersonalData {
  // Without an address there is no server to which anything could have been sent.
  const server = () => letta.agents().catch(() => undefined);
  return {
    stays: ['what a Letta agent was told and remembers: its server keeps that, and its owner can delete it'],
    async export(userId) {
      const sent = (await server())?.of(userId);
      const planned = [];
      for await (const [guildId, known] of wakes.entries()) {
        for (const one of known.planned) if (one.userId === userId) planned.push({ guildId, ...one });
      }
      return { waiting: await queue.of(userId), sent: (await sent) ?? [], planned };
    },
    async forget(userId) {
      await queue.forget(userId);
      await (await server())?.forget(userId);
      for await (const [guildId, known] of wakes.entries()) {
        if (!known.planned.some((one) => one.userId === userId)) continue;
        await wakes.of(guildId).update((draft) => {
          draft.planned = draft.planned.filter((one) => one.userId !== userId);
        });
      }
    },
  };
}

/** Whether an event holds a person's words, or is about something that they did. */
export function concerns({ userId, facts }: RelayEvent, person: string): boolean {
  const isTheirs = ({ authorId }: { readonly authorId: string }) => authorId === person;
  if (userId === person || facts.author?.id === person) return true;
  return facts.chain.some(isTheirs) || facts.lines?.some(isTheirs) === true;
}

/** The event without a person's words: `undefined` when it is theirs; another member's event loses their lines and messages. */
export function without(event: RelayEvent, person: string): RelayEvent | undefined {
  const { userId, facts } = event;
  if (userId === person || facts.author?.id === person) return undefined;
  if (!concerns(event, person)) return event;
  const chain = facts.chain.filter(({ authorId }) => authorId !== person);
  const lines = facts.lines?.filter(({ authorId }) => authorId !== person);
  return { ...event, facts: { ...facts, chain, ...(lines === undefined ? {} : { lines }) } };
}
