import type { Clock, Logger, PersonaEvent, PersonaPlace, PersonaSystemEvent, Personas } from '@cinnabar/sdk';

export type EventHub = ReturnType<typeof createEventHub>;

/** Passes events to those who subscribed. */
export function createEventHub(log: Logger) {
  const listeners = new Set<(event: PersonaEvent) => void>();
  const subscribe: Personas['subscribe'] = ({ guildId, channelId }, listener) => {
    const listen = (event: PersonaEvent) => {
      if (guildId !== undefined && event.guildId !== guildId) return;
      if (channelId === undefined || event.channelId === channelId) listener(event);
    };
    listeners.add(listen);
    return () => void listeners.delete(listen);
  };
  const publish = (event: PersonaEvent): void => {
    for (const listen of [...listeners]) {
      try {
        listen(event);
      } catch (error) {
        log.warn('a listener to a persona failed', { error });
      }
    }
  };
  return { subscribe, publish };
}

/** The events of one action, or of a whole run. */
export interface EventEmitter {
  started(toolId: string, tool: string, context: string): void;
  finished(toolId: string, tool: string, result: string, failed?: boolean): void;
  text(content: string, isThought: boolean): void;
  system(event: PersonaSystemEvent, message: string, reasoning?: string): void;
}

export interface RunEvents extends EventEmitter {
  /** All so far. */
  readonly events: readonly PersonaEvent[];
}

/** Emits the events of one run, in order. */
export function createRunEvents(
  hub: EventHub,
  { guildId, channelId }: PersonaPlace,
  sessionId: string,
  clock: Pick<Clock, 'now'>,
): RunEvents {
  const events: PersonaEvent[] = [];
  const base = () => ({ guildId, channelId, sessionId, at: clock.now() });
  const emit = (event: PersonaEvent) => {
    events.push(event);
    hub.publish(event);
  };
  return {
    started: (toolId, tool, context) =>
      emit({ ...base(), type: 'tool-started', toolId, tool, parameters: { context } }),
    finished: (toolId, tool, result, failed = false) =>
      emit({ ...base(), type: 'tool-finished', toolId, tool, result, failed }),
    text: (content, isThought) => emit({ ...base(), type: 'text', content, isThought }),
    system: (event, message, reasoning) =>
      emit({ ...base(), type: 'system', event, message, ...(reasoning ? { reasoning } : {}) }),
    events,
  };
}

/** Holds events back until `flush`, so that those of actions that run at the same time come one action after another. */
export function createBuffer(emitter: EventEmitter): EventEmitter & { flush(): void } {
  const waiting: (() => void)[] = [];
  return {
    started: (...event) => void waiting.push(() => emitter.started(...event)),
    finished: (...event) => void waiting.push(() => emitter.finished(...event)),
    text: (...event) => void waiting.push(() => emitter.text(...event)),
    system: (...event) => void waiting.push(() => emitter.system(...event)),
    flush() {
      for (const emit of waiting.splice(0)) emit();
    },
  };
}
