import type { LlmRequest } from '@cinnabar/sdk';
import { cleanName, labelParticipants } from '../transcript/labels.js';

/** Who is in the script, under which name: one line, without a colon, all different. */
export interface Cast {
  readonly self: string;
  /** By participant; the model itself is not among them. */
  readonly labels: ReadonlyMap<string, string>;
}

export function castOf({ messages, self }: Pick<LlmRequest, 'messages' | 'self'>): Cast {
  const others = messages.map(({ participant }) => participant).filter((participant) => participant !== self);
  return { self: cleanName(self), labels: labelParticipants(others, self) };
}
