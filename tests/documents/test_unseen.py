"""What a person does not see: whole classes of characters, and the few that their class does not
tell of.
"""

import sys
import unicodedata

from vespe.documents.unseen import is_seen


def test_p49_no_format_control_unassigned_or_odd_space_character_is_seen() -> None:
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}
    seen = [
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in hidden and is_seen(chr(code))
    ]
    assert seen == [0x20]


def test_p49_fillers_and_selectors_are_not_seen_though_their_class_says_letter_or_mark() -> None:
    assert not any(
        is_seen(f"a{one}b")
        for one in "\u034f\u115f\u17b4\u180b\u2800\u3164\ufe0f\uffa0\U000e0100\U000e01ef"
    )


def test_letters_marks_numbers_signs_and_pictures_are_seen() -> None:
    assert all(
        is_seen(text)
        for text in (
            "plain words",
            "é",
            "e\u0301",
            "日本語",
            "ไทย",
            "हिन्दी",
            "العربية",
            "€ ± ½",
            "🙂",
            "",
        )
    )
