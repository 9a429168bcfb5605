/** Tests of this repository cause errors of plugins on purpose; by default a test host prints them, for plugin authors. */
import { printErrorsByDefault } from '@cinnabar/core/testing';

printErrorsByDefault(false);
