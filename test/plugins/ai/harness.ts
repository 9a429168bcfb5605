import { definePlugin, type Plugin, type ResponderDefinition, type Turn } from '@cinnabar/sdk';

/** A responder for tests that records its turns. */
export interface Mind {
  readonly plugin: Plugin;
  readonly turns: readonly Turn[];
  /** Resolves when that many turns have begun. */
  begun(count: number): Promise<void>;
}

export function createMind(
  name: string,
  respond: (turn: Turn) => Promise<unknown> = (turn) => turn.reply(`${name} heard: ${turn.text}`),
  traits: Pick<ResponderDefinition, 'batches' | 'maxWaiting'> = {},
): Mind {
  const turns: Turn[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const plugin = definePlugin({
    manifest: { id: `mind-${name}`, version: '1.0.0', description: `The mind ${name}` },
    setup({ responder }) {
      responder({
        ...traits,
        name,
        description: `Answers as ${name}`,
        async respond(turn) {
          turns.push(turn);
          for (const waiter of waiting) if (turns.length >= waiter.count) waiter.resolve();
          await respond(turn);
        },
      });
    },
  });
  const begun = (count: number) =>
    turns.length >= count ? Promise.resolve() : new Promise<void>((resolve) => waiting.push({ count, resolve }));
  return { plugin, turns, begun };
}

/** A gate that waits until it is opened. */
export function createGate(): { readonly passed: Promise<void>; open(): void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}
