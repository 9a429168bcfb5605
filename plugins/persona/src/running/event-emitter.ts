import type { Clock, Logger, PersonaEvent, PersonaPlace, PersonaSystemEvent, Personas } from '@cinnabar/sdk';

/** Brings events to whoever listens. */
export interface EventHub extends Pick<Personas, 'subscribe'> {
  publish(event: PersonaEvent): void;
}

export function createEventHub(log: Logger): EventHub {
  const listeners = new Set<(event: PersonaEvent) => void>();
  return {
    subscribe({ guildId, channelId }, listener) {
      const listen = (event: PersonaEvent) => {
        if (guildId !== undefined && event.guildId !== guildId) return;
        if (channelId === undefined || event.channelId === channelId) listener(event);
      };
      listeners.add(listen);
      return () => void listeners.delete(listen);
    },
    publish(event) {
      for (const listen of [...listeners]) {
        try {
          listen(event);
        } catch (error) {
          log.warn('a listener to a persona failed', { error });
        }
      }
    },
  };
}

/** Tells of one run, in order. */
export interface Teller {
  started(toolId: string, tool: string, context: string): void;
  finished(toolId: string, tool: string, result: string, failed?: boolean): void;
  text(content: string, isThought: boolean): void;
  system(event: PersonaSystemEvent, message: string, reasoning?: string): void;
  /** All so far. */
  readonly events: readonly PersonaEvent[];
}

export function createTeller(hub: EventHub, place: PersonaPlace, sessionId: string, clock: Pick<Clock, 'now'>): Teller {
  const events: PersonaEvent[] = [];
  const { guildId, channelId } = place;
  const base = () => ({ guildId, channelId, sessionId, at: clock.now() });
  const tell = (event: PersonaEvent) => {
    events.push(event);
    hub.publish(event);
  };
  return {
    started: (toolId, tool, context) =>
      tell({ ...base(), type: 'tool-started', toolId, tool, parameters: { context } }),
    finished: (toolId, tool, result, failed = false) =>
      tell({ ...base(), type: 'tool-finished', toolId, tool, result, failed }),
    text: (content, isThought) => tell({ ...base(), type: 'text', content, isThought }),
    system: (event, message, reasoning) =>
      tell({ ...base(), type: 'system', event, message, ...(reasoning ? { reasoning } : {}) }),
    events,
  };
}

type Telling = Pick<Teller, 'started' | 'finished' | 'text' | 'system'>;

/** Keeps what is told until it is its turn: actions that run at the same time are told of one after another. */
export function createBuffered(teller: Telling): Telling & { flush(): void } {
  const waiting: (() => void)[] = [];
  return {
    started: (...told) => void waiting.push(() => teller.started(...told)),
    finished: (...told) => void waiting.push(() => teller.finished(...told)),
    text: (...told) => void waiting.push(() => teller.text(...told)),
    system: (...told) => void waiting.push(() => teller.system(...told)),
    flush() {
      for (const tell of waiting.splice(0)) tell();
    },
  };
}
