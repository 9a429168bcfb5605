import { z } from '@cinnabar/sdk';

/** A message to the agent. */
export const told = z.object({ key: z.string(), ids: z.array(z.string()) });
export type Told = z.output<typeof told>;

export const tellPath = '/tell';
