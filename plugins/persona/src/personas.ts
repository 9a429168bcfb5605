import type { Personas } from '@cinnabar/sdk';
import type { RunParts } from './context.js';
import { toldIn } from './state/goals.js';

/** What pages and other plugins may see of personas. */
export function createPersonas({
  store,
  hub,
  traces,
  client,
}: Pick<RunParts, 'store' | 'hub' | 'traces' | 'client'>): Personas {
  return {
    async state(place) {
      const { state, version } = await store.read(place);
      const { name, description, mood, appearance, environment, goals, desires } = state;
      const texts = (items: typeof goals) => toldIn(items, store.toldAt(place)).map(({ text }) => text);
      return {
        name: name || (client.user?.displayName ?? ''),
        description,
        mood: { name: mood.name, intensity: mood.intensity },
        appearance,
        environment,
        goals: texts(goals),
        desires: texts(desires),
        version,
      };
    },
    subscribe: hub.subscribe,
    recent: traces.recent,
  };
}
