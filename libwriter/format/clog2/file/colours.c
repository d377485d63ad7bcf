/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the texts in a log, and the colours of X11 (rgb.txt of X.Org), which the Java tools know, too. */
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/status.h"
#include "libwriter/format/clog2/file/records.h"

/* A name with a 4 at its end stands for five shades: without a digit, and with 1, 2, 3 and 4. X11 also accepts
 * names of several words in small letters with blanks between them. */
static const char names[] =
    "AliceBlue AntiqueWhite4 BlanchedAlmond BlueViolet CadetBlue4 CornflowerBlue DarkBlue DarkCyan "
    "DarkGoldenrod4 DarkGray DarkGreen DarkGrey DarkKhaki DarkMagenta DarkOliveGreen4 DarkOrange4 "
    "DarkOrchid4 DarkRed DarkSalmon DarkSeaGreen4 DarkSlateBlue DarkSlateGray4 DarkSlateGrey "
    "DarkTurquoise DarkViolet DeepPink4 DeepSkyBlue4 DimGray DimGrey DodgerBlue4 FloralWhite "
    "ForestGreen GhostWhite GreenYellow HotPink4 IndianRed4 LavenderBlush4 LawnGreen LemonChiffon4 "
    "LightBlue4 LightCoral LightCyan4 LightGoldenrod4 LightGoldenrodYellow LightGray LightGreen "
    "LightGrey LightPink4 LightSalmon4 LightSeaGreen LightSkyBlue4 LightSlateBlue LightSlateGray "
    "LightSlateGrey LightSteelBlue4 LightYellow4 LimeGreen MediumAquamarine MediumBlue MediumOrchid4 "
    "MediumPurple4 MediumSeaGreen MediumSlateBlue MediumSpringGreen MediumTurquoise MediumVioletRed "
    "MidnightBlue MintCream MistyRose4 NavajoWhite4 NavyBlue OldLace OliveDrab4 OrangeRed4 "
    "PaleGoldenrod PaleGreen4 PaleTurquoise4 PaleVioletRed4 PapayaWhip PeachPuff4 PowderBlue "
    "RosyBrown4 RoyalBlue4 SaddleBrown SandyBrown SeaGreen4 SkyBlue4 SlateBlue4 SlateGray4 SlateGrey "
    "SpringGreen4 SteelBlue4 VioletRed4 WhiteSmoke YellowGreen aquamarine4 azure4 beige bisque4 black "
    "blue4 brown4 burlywood4 chartreuse4 chocolate4 coral4 cornsilk4 cyan4 firebrick4 gainsboro gold4 "
    "goldenrod4 gray green4 grey honeydew4 ivory4 khaki4 lavender linen magenta4 maroon4 moccasin "
    "navy orange4 orchid4 peru pink4 plum4 purple4 red4 salmon4 seashell4 sienna4 snow4 tan4 thistle4 "
    "tomato4 turquoise4 violet wheat4 white yellow4";

/* Returns whether a text is a number from 0 to 100 without leading zeros. */
static bool is_percent(const char *text) {
    size_t n = strspn(text, "0123456789");
    return n > 0 && n <= 3 && text[n] == '\0' && (text[0] != '0' || n == 1) && strtol(text, NULL, 10) <= 100;
}

/* Converts "navy blue" to "NavyBlue". False if the name does not have this form. */
static bool join_words(const char *text, char joined[HPCW_CLOG2_COLOUR + 1]) {
    bool start = true;
    size_t n = 0;
    for (; *text != '\0'; text++) {
        if (*text == ' ') {
            if (start) {
                return false;
            }
            start = true;
        } else if (*text < 'a' || *text > 'z') {
            return false;
        } else {
            joined[n++] = (char)(start ? *text - 'a' + 'A' : *text);
            start = false;
        }
    }
    joined[n] = '\0';
    return !start;
}

static bool is_known(const char *colour) {
    for (const char *name = names; *name != '\0'; name += strspn(name, " ")) {
        size_t n = strcspn(name, " ");
        bool shades = name[n - 1] == '4';
        const char *rest = colour + n - shades;
        if (strncmp(colour, name, n - shades) == 0 &&
            (*rest == '\0' || (shades && *rest >= '1' && *rest <= '4' && rest[1] == '\0'))) {
            return true;
        }
        name += n;
    }
    return false;
}

hpcw_status hpcw_i_clog2_text_check(const char *what, const char *text, size_t room, hpcw_error *err) {
    if (text == NULL || text[0] == '\0') {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2: %s: expected a text, got %s", what,
                           text == NULL ? "NULL" : "an empty one");
    }
    size_t length = strnlen(text, room);
    if (length == room) {
        return hpcw_i_fail(err, HPCW_ERANGE, "clog2: %s: expected at most %zu bytes, got \"%.60s\"", what,
                           room - 1, text);
    }
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 127) {
            return hpcw_i_fail(err, HPCW_EINVAL,
                               "clog2: %s: expected no control characters, got one (%d) at byte %zu", what,
                               text[i], i);
        }
    }
    return HPCW_OK;
}

hpcw_status hpcw_clog2_colour_check(const char *colour, hpcw_error *err) {
    hpcw_status s = hpcw_i_clog2_text_check("colour", colour, HPCW_CLOG2_COLOUR + 1, err);
    if (s != HPCW_OK) {
        return s;
    }
    char joined[HPCW_CLOG2_COLOUR + 1];
    const char *name = strchr(colour, ' ') == NULL ? colour : join_words(colour, joined) ? joined : "";
    if ((strncmp(name, "gray", 4) == 0 || strncmp(name, "grey", 4) == 0) && is_percent(name + 4)) {
        return HPCW_OK;
    }
    return is_known(name) ? HPCW_OK
                          : hpcw_i_fail(err, HPCW_EINVAL,
                                        "clog2: colour: expected a name that X11 knows, got \"%s\"", colour);
}
