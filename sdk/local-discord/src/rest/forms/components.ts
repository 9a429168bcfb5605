import type { APIMessageTopLevelComponent } from 'discord-api-types/v10';
import { z } from 'zod';
import { checkComponents } from '../../rules/components.js';

function isComponent(value: unknown): value is APIMessageTopLevelComponent {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'number';
}

/** Top-level components, with Discord's limits. */
export const componentsForm = z
  .array(
    z.custom<APIMessageTopLevelComponent>(isComponent, {
      error: 'Invalid component',
      params: { code: 'UNION_TYPE_CHOICES' },
    }),
  )
  .superRefine((components, context) => {
    for (const issue of checkComponents(components)) {
      context.addIssue({ code: 'custom', path: [...issue.path], message: issue.message, params: { code: issue.code } });
    }
  });
