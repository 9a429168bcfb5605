import type { APIMessageTopLevelComponent } from 'discord-api-types/v10';
import { type AnyComponent, isSelect, walkComponents } from '../rules/components.js';

const SEPARATOR = 14;
const CONTAINER = 17;

/**
 * A message's components as Discord returns them: with the defaults, and each with an `id`. Those that were sent without one are
 * numbered in order. See https://discord.com/developers/docs/components/reference#anatomy-of-a-component
 */
export function componentsPayload(components: readonly APIMessageTopLevelComponent[]): APIMessageTopLevelComponent[] {
  const rendered = structuredClone([...components]);
  const all = [...walkComponents(rendered)].map(({ component }) => component);
  const taken = new Set(all.map(({ id }) => id));
  let next = 1;
  for (const component of all) {
    Object.assign(component, { ...defaults(component), ...component });
    // Discord takes 0 for missing.
    if (component.id !== undefined && component.id !== 0) continue;
    while (taken.has(next)) next += 1;
    component.id = next;
    next += 1;
  }
  return rendered;
}

function defaults(component: AnyComponent): Record<string, unknown> {
  if (isSelect(component)) return { min_values: 1, max_values: 1 };
  if (component.type === SEPARATOR) return { spacing: 1, divider: true };
  if (component.type === CONTAINER) return { accent_color: null, spoiler: false };
  return {};
}
