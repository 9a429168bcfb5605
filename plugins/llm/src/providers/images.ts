import type { ImageContent } from '@cinnabar/sdk';
import type { ImageRule } from '../transcript/user-parts.js';

/** What a provider takes. */
export interface ImageLimits {
  readonly mediaTypes: readonly string[];
  readonly protocols: readonly string[];
  readonly maxBytes: number;
}

/** The rule for a provider's limits; for a model that sees nothing, every image has a problem. */
export function imageRule(limits: ImageLimits, canSee: boolean): ImageRule {
  return (source) => (canSee ? problemWith(source, limits) : 'this model takes no images');
}

function problemWith(source: ImageContent['source'], limits: ImageLimits): string | undefined {
  const mediaType = source.mediaType.toLowerCase();
  if (!limits.mediaTypes.includes(mediaType)) return `${mediaType || 'its type'} is not supported`;
  if (source.type === 'url') {
    const fits = URL.canParse(source.data) && limits.protocols.includes(new URL(source.data).protocol);
    return fits ? undefined : 'its address cannot be used';
  }
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(source.data)) return 'its data is damaged';
  return source.data.length * 0.75 > limits.maxBytes ? 'it is too large' : undefined;
}

export const COMMON_MEDIA_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
