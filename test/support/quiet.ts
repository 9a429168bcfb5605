/** Our tests provoke errors of plugins on purpose; those of authors are printed. */
import { printErrorsByDefault } from '@cinnabar/core/testing';

printErrorsByDefault(false);
